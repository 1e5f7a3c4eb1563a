"""What every room needs: checks, files, the console, threads, compiled loops, caches."""
