//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// command returns a child process in its own process group: Ctrl-C reaches it only through ctx, and then also ends the
// processes that it started (compilers).
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// lock acquires an exclusive lock, which the kernel releases when this process ends. waiting is called once if another
// process holds it.
func lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	for known := false; ; {
		f, err := tryLock(path)
		if err != nil {
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		if f != nil {
			return func() { f.Close() }, nil
		}
		if !known {
			waiting()
			known = true
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// tryLock returns the locked file, or nil if another process has locked it. The
// holder may delete the file before it unlocks it; a lock on a deleted file does not
// count.
func tryLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		mine, statErr := f.Stat()
		named, namedErr := os.Stat(path)
		if statErr == nil && namedErr == nil && os.SameFile(mine, named) {
			return f, nil
		}
	}
	f.Close()
	if err == nil || errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return nil, nil
	}
	return nil, err
}

// process is a running component of a cluster.
type process struct {
	pid  int
	name string
}

// findProcesses returns the control plane processes whose command line has a path
// below dir. Process IDs in files are not trusted: after a reboot they may belong to
// other processes.
func findProcesses(dir string) ([]process, error) {
	lines, err := commandLines()
	if err != nil {
		return nil, err
	}
	var found []process
	for pid, args := range lines {
		name := filepath.Base(args[0])
		if slices.Contains(serverComponents, name) && pid != os.Getpid() && strings.Contains(strings.Join(args[1:], "\n"), "="+dir+string(filepath.Separator)) {
			found = append(found, process{pid, name})
		}
	}
	return found, nil
}

// commandLines returns the arguments of each process, by process id.
func commandLines() (map[int][]string, error) {
	list := map[int][]string{}
	if files, _ := filepath.Glob("/proc/[0-9]*/cmdline"); len(files) > 0 {
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil || len(data) == 0 {
				continue // it has ended in the meantime, or is a kernel thread or a zombie
			}
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err == nil {
				list[pid] = strings.Split(strings.TrimRight(string(data), "\x00"), "\x00")
			}
		}
		return list, nil
	}
	out, err := exec.Command("ps", "-axww", "-o", "pid=,args=").Output()
	if err != nil {
		return nil, fmt.Errorf("listing processes with ps: %w", err)
	}
	for line := range bytes.Lines(out) {
		fields := strings.Fields(string(line))
		if len(fields) < 2 {
			continue
		}
		if pid, err := strconv.Atoi(fields[0]); err == nil {
			list[pid] = fields[1:]
		}
	}
	return list, nil
}

// stopProcesses stops all processes below dir: with SIGTERM first, then SIGKILL.
func stopProcesses(dir string) error {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for range 50 {
			left, err := findProcesses(dir)
			if err != nil || len(left) == 0 {
				return err
			}
			for _, p := range left {
				_ = syscall.Kill(p.pid, signal) // it may have ended in the meantime
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	left, err := findProcesses(dir)
	if err != nil || len(left) == 0 {
		return err
	}
	return fmt.Errorf("%s (process %d) does not end: stop it by hand and try again", left[0].name, left[0].pid)
}
