"""The results of stored runs in the Persona lab: figures side by side, with what sets the runs apart."""
