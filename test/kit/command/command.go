// Package command runs programs to completion in tests.
package command

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
)

// Result is the output of a program. Code is its exit code.
type Result struct {
	Code        int
	Out, ErrOut string
}

// Run runs a program with arguments and input. It returns an error if the program cannot be started or exceeds the
// limit; a nonzero exit code is no error.
func Run(ctx context.Context, limit time.Duration, input, program string, args ...string) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var out, errOut bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case err != nil && !errors.As(err, &exit):
		return Result{}, err
	}
	return Result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}, nil
}
