//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
)

// alone runs a command while it holds a lock, and returns the command's error. Processes that the command leaves
// running do not hold the lock.
func alone(ctx context.Context, path string, command []string) error {
	unlock, err := lock(ctx, path, func() {
		fmt.Fprintln(os.Stderr, "Waiting for another make up or make down of this cluster to finish.")
	})
	if err != nil {
		return err
	}
	defer unlock()
	child := exec.Command(command[0], command[1:]...) // It receives signals, too: it is in the same process group.
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	return child.Run()
}
