"""A model's outputs as formulas with gradients: affine scores, smooth functions, torch modules."""
