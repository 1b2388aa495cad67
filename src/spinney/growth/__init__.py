"""Every way to grow trees, and to prune them."""
