raise SystemExit("a module that wants to go")
