package view

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
)

// recovered returns f with panics turned into errors: a panic in a goroutine would end the process and leave the
// terminal as the interactive view has set it.
func recovered(f func() error) func() error {
	return func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				err = cmdutil.NewUserError(cmdutil.KindOther, nil, fmt.Sprintf("the live view crashed: %v (%s)", r, callers()), "this is a bug, please report it")
			}
		}()
		return f()
	}
}

// maxCallers is the maximum number of functions that an error names.
const maxCallers = 12

// callers returns the functions that led to a panic, the last first: "source.go:123 < source.go:45".
func callers() string {
	pcs := make([]uintptr, maxCallers)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs)])
	var places []string
	for {
		frame, more := frames.Next()
		places = append(places, fmt.Sprintf("%s:%d", frame.File[strings.LastIndexByte(frame.File, '/')+1:], frame.Line))
		if !more {
			return strings.Join(places, " < ")
		}
	}
}
