"""The page of a run folder, live: `headway watch` serves it and only ever reads.

    folder ──▶ survey (every cell and its state) ──▶ run_cache (numbers of those shown) ──▶ pages ──▶ server ──▶ browser

The page is the one that `headway report` writes. It asks `state.json` for news every few seconds and fetches the
numbers of a run anew when they have changed; nothing of an address reaches the disk but the name of a cell.
"""

from headway.watch.server import Server, open_server

__all__ = ["Server", "open_server"]
