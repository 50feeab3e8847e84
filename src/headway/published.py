"""What paper A and its authors' figures show, where it is known: steps by eye, for one seed, of the as-run settings."""

STAGE_ENDS = {
    ("stages", "minimal"): (110, 400),
    ("ladder", "full"): (65, 450),
    ("init-scale", "scale u = 1e-09"): (330, 575),
    ("init-scale", "scale u = 1e-06"): (320,),
    ("init-scale", "scale u = 0.001"): (200,),
    ("sgd", "SGD"): (600, 4000),
}
"""(experiment, run) -> where the authors put the ends of stages 1 and 2, or where the first plateau is left."""

PLATEAUS = {("init-scale", "scale u = 1e-09"): (0.87, 0.34, 0.09)}
"""(experiment, run) -> excess loss of the plateaus, in nats."""
