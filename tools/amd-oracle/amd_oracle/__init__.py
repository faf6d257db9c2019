"""Translates AMD code objects for the engine that executes them: see the README beside this package."""
