"""How long will the plateau be? Predicted from theory where it applies, and from measured laws elsewhere.

question      what can be asked: a kind of model, the sizes of its task, a learning rate
answer        what is predicted: steps, an interval, where they come from, warnings
measured      records -> how long the plateaus of every cell and seed lasted
from_theory   the toy: its flow, solved, and how far training was from it
from_laws     transformers: a power law through what was measured
embeddings    recall: which initial embedding runs have, and which is asked for
chain_cells   the chain: when the stages of measured runs begin
from_chain    the chain: how far Adam has to move values and scores, and laws of later stages
ask           a question and folders of records -> an answer
held_out      the same for cells that were measured and held back: how often the interval is right
"""
