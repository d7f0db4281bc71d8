"""Sample size, power, and the smallest detectable disparity."""
