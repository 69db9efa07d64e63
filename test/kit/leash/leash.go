//go:build unix

// Package leash ensures that clusters and other programs started by tests do not outlive the test process.
package leash

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// Leash removes a cluster when it is released or when the test process ends, however it ends (a panic, go test's time
// limit, Ctrl-C).
type Leash struct {
	cmd  *exec.Cmd
	hold io.Closer
}

// takeDown waits until its standard input is closed, then removes the cluster.
const takeDown = `cat >/dev/null; go -C "$1"/hack/controlplane run . down --dir "$2"; rm -rf "$2"`

// New returns a Leash for the cluster in dir, which need not exist yet. root is the project's folder.
func New(root, dir string) (*Leash, error) {
	cmd := exec.Command("sh", "-c", takeDown, "sh", root, dir)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the test process only.
	hold, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &Leash{cmd, hold}, cmd.Start()
}

// Release removes the cluster and its folder.
func (l *Leash) Release() error {
	if err := l.hold.Close(); err != nil {
		return err
	}
	if err := l.cmd.Wait(); err != nil {
		return fmt.Errorf("removing the cluster: %w", err)
	}
	return nil
}

// Command returns a command that is killed when the test process is gone. A background watcher checks for that once per
// second; the command itself replaces the shell and receives its signals.
func Command(program string, args ...string) *exec.Cmd {
	const script = `( while kill -0 "$1" && kill -0 $$; do sleep 1; done; kill -0 "$1" || kill -KILL $$ ) >/dev/null 2>&1 </dev/null &
shift; exec "$@"`
	return exec.Command("sh", append([]string{"-c", script, "sh", strconv.Itoa(os.Getpid()), program}, args...)...)
}
