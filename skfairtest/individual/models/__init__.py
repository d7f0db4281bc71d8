"""What a model says of people, as formulas and gradients: affine scores, smooth functions, torch modules."""
