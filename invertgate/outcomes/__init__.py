"""Find the control-flow outcomes that a patch adds."""
