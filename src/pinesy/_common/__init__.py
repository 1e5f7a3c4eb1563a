"""What every package needs: checks, reports, files, console, threads, compiled loops, caches."""
