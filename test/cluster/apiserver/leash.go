package apiserver

import (
	"fmt"
	"os"
	"path/filepath"
)

// Leash makes sure that no server and no file of a server outlives the test process, however it ends (a panic, go test's
// time limit, a signal).
type Leash struct {
	// dir holds all files to remove with the process.
	dir string
}

func newLeash() (Leash, error) {
	dir, err := os.MkdirTemp("", "batchjob-apiserver-")
	return Leash{dir}, err
}

// leashScript executes the program and leaves a watcher process behind, which checks once per second whether the test
// process and the program still exist.
const leashScript = `#!/bin/sh
(
	while kill -0 %[1]d && kill -0 $$; do sleep 1; done
	kill -0 %[1]d || { kill -KILL $$; rm -rf '%[2]s'; }
) >/dev/null 2>&1 </dev/null &
exec '%[3]s' "$@"
`

// Hold writes a script that runs the program on the leash, and returns the script's path.
func (l Leash) Hold(program string) (string, error) {
	path := filepath.Join(l.dir, filepath.Base(program))
	return path, os.WriteFile(path, fmt.Appendf(nil, leashScript, os.Getpid(), l.dir, program), 0o700)
}

func (l Leash) release() error { return os.RemoveAll(l.dir) }
