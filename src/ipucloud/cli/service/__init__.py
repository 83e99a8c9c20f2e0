"""Commands that run the service. They import the control plane, so they are loaded only when they are called."""
