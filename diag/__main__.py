"""`python -m diag` is `diag`."""

from diag.cli import main

if __name__ == "__main__":
    main()
