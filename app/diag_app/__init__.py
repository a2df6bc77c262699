"""The browser over run folders. Its pages come with the steps whose results they show."""
