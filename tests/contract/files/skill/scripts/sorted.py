# never run here
