"""Paper A's theory: the gradient flow of attention on a regression, its reductions, and what is true of them."""
