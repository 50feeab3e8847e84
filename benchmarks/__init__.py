"""How fast Headway is: measured in a source checkout, and no part of the installed package."""
