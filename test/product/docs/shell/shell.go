//go:build linux

// Package shell runs a page's blocks of commands as a reader would: one after another in one shell, which keeps its
// working directory and variables, and in a terminal if a command opens an interactive view.
package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/batchjob-dev/kubectl-batchjob/test/product/docs/page"
)

// pace is the interval between checks of the output.
const pace = 20 * time.Millisecond

// driver is the shell's main loop: it reads requests from descriptor 3, as three files (commands, input, output), and
// writes the exit code to descriptor 4. A background process kills the process group when the test process is gone.
const driver = `set -o pipefail
( while kill -0 "$1"; do sleep 1; done; kill -KILL 0 ) </dev/null >/dev/null 2>&1 3<&- 4>&- &
disown
shift
while IFS=' ' read -r -u 3 __commands __in __out; do
	source "$__commands" <"$__in" >>"$__out" 2>&1 3<&- 4>&-
	echo $? >&4
done`

// Session is a shell that keeps state between blocks. After an error it cannot be used any more.
type Session struct {
	cmd      *exec.Cmd
	scratch  string
	requests *os.File
	replies  chan int // closed when the shell has ended
	commands int
}

// Error is a command that did not behave as its page says.
type Error struct {
	Where   string // page:line
	Command string
	Problem string
	Output  string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s\n  %s\nit printed:\n%s", e.Where, e.Problem,
		strings.ReplaceAll(strings.TrimSpace(e.Command), "\n", "\n  "), indent(e.Output))
}

// Start starts a shell in a folder. The session's own files are in scratch.
func Start(dir, scratch string, environment []string) (*Session, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	answers, answer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s := &Session{cmd: exec.Command("bash", "--noprofile", "--norc", "-c", driver, "bash", strconv.Itoa(os.Getpid())), scratch: scratch, requests: theirs, replies: make(chan int)}
	s.cmd.Dir, s.cmd.Env, s.cmd.ExtraFiles = dir, environment, []*os.File{ours, answer}
	// A separate process group, so that Close can end all processes. It is not a separate session: the terminal of a
	// view must not become its controlling terminal.
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err = s.cmd.Start()
	ours.Close()
	answer.Close()
	if err != nil {
		return nil, err
	}
	go func() {
		defer close(s.replies)
		defer answers.Close()
		lines := bufio.NewScanner(answers)
		for lines.Scan() {
			code, _ := strconv.Atoi(lines.Text()) // The driver prints numbers.
			s.replies <- code
		}
	}()
	return s, nil
}

// Close ends the shell and all processes that it started.
func (s *Session) Close() {
	s.requests.Close()
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // It may have ended.
	_ = s.cmd.Wait()                                      // It was killed.
	for range s.replies {
		continue // The reader must end.
	}
}

// Run runs a block. It returns an *Error if a command misbehaves; other errors are about the machine.
func (s *Session) Run(ctx context.Context, b page.Block) error {
	commands, err := Split(ctx, b.Commands())
	if err != nil {
		return &Error{Where: b.Where(), Command: b.Text, Problem: err.Error()}
	}
	if len(commands) == 0 {
		return &Error{Where: b.Where(), Command: b.Text, Problem: "there is no command"}
	}
	viewed := false
	for i, c := range commands {
		how := page.Run{View: b.Run.View, Frame: b.Run.Frame}
		if last := i == len(commands)-1; last {
			how = b.Run
		}
		saw, err := s.command(ctx, c, how)
		if problem := (*Error)(nil); errors.As(err, &problem) {
			problem.Where, problem.Command = fmt.Sprintf("%s:%d", b.Page, c.Line), c.Text
		}
		if err != nil {
			return err
		}
		viewed = viewed || saw
	}
	if b.Run.View && !viewed {
		return &Error{Where: b.Where(), Command: b.Text, Problem: "no command opened an interactive view"}
	}
	return nil
}

// command runs a command and reports whether it showed an interactive view.
func (s *Session) command(ctx context.Context, c page.Command, how page.Run) (viewed bool, err error) {
	s.commands++
	file := filepath.Join(s.scratch, fmt.Sprintf("command-%d", s.commands))
	if err := os.WriteFile(file, []byte(c.Text), 0o600); err != nil {
		return false, err
	}
	var w watcher
	if how.View {
		term, err := openTerminal()
		if err != nil {
			return false, err
		}
		defer term.close()
		w = &viewWatcher{terminal: term, frame: how.Frame}
	} else {
		w = &fileWatcher{file: file + ".out", until: how.Until, session: s, before: s.descendants()}
	}
	in, out := w.streams()
	if _, err := fmt.Fprintln(s.requests, file, in, out); err != nil {
		return false, &Error{Problem: "the shell has ended: " + err.Error()}
	}
	code, problem := s.await(ctx, w)
	if problem == "" {
		problem = w.judge(code, how, strings.Contains(c.Text, "|"))
	}
	if problem != "" {
		return false, &Error{Problem: problem, Output: w.output()}
	}
	view, isView := w.(*viewWatcher)
	return isView && view.pressed, nil
}

// await waits for the command's exit code and calls the watcher's look meanwhile.
func (s *Session) await(ctx context.Context, w watcher) (code int, problem string) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case code, alive := <-s.replies:
			if !alive {
				return 0, "the shell has ended with this command"
			}
			return code, ""
		case <-tick.C:
			w.look()
		case <-ctx.Done():
			return 0, "it has not ended in time"
		}
	}
}

// watcher observes the output of a command.
type watcher interface {
	// streams returns the files of the command's input and output.
	streams() (in, out string)
	// look is called repeatedly while the command runs.
	look()
	// judge returns the problem with the end of the command, or "".
	judge(code int, how page.Run, piped bool) string
	output() string
}

// fileWatcher is the watcher for commands without a terminal.
type fileWatcher struct {
	file, until string
	session     *Session
	// before holds processes that earlier commands have left in the background.
	before map[int]bool
	// interrupted holds the interrupted processes; it is nil until the text was printed.
	interrupted map[int]bool
}

func (w *fileWatcher) streams() (in, out string) { return os.DevNull, w.file }

func (w *fileWatcher) output() string {
	data, err := os.ReadFile(w.file)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// look interrupts a command that has printed the expected text, as Ctrl-C does, including processes that it starts at
// the same moment.
func (w *fileWatcher) look() {
	if w.until == "" || w.interrupted == nil && !strings.Contains(w.output(), w.until) {
		return
	}
	if w.interrupted == nil {
		w.interrupted = map[int]bool{}
	}
	for pid := range w.session.descendants() {
		if !w.before[pid] && !w.interrupted[pid] {
			w.interrupted[pid] = true
			_ = syscall.Kill(pid, syscall.SIGINT) // It may have ended.
		}
	}
}

// piped is the exit code of a pipeline in which a later command has closed its input.
const piped = 128 + int(syscall.SIGPIPE)

func (w *fileWatcher) judge(code int, how page.Run, pipeline bool) string {
	interrupted := 128 + int(syscall.SIGINT)
	switch {
	case w.until != "" && !strings.Contains(w.output(), w.until):
		return fmt.Sprintf("it ended, with exit code %d, without printing %q", code, w.until)
	case w.interrupted != nil && how.Code == 0 && code == interrupted, code == piped && pipeline && how.Code == 0:
		return ""
	}
	return wrongCode(code, how.Code)
}

func wrongCode(code, want int) string {
	if code == want {
		return ""
	}
	return fmt.Sprintf("exit code %d, want %d", code, want)
}

// descendants returns the running processes that the shell has started.
func (s *Session) descendants() map[int]bool {
	parents := map[int]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // The pattern is good.
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue // It has ended meanwhile.
		}
		// pid (name) state ppid …; the name may contain any character.
		text := string(data)
		var pid, parent int
		var state string
		if _, err := fmt.Sscan(text, &pid); err != nil {
			continue
		}
		if _, err := fmt.Sscan(text[strings.LastIndex(text, ")")+1:], &state, &parent); err == nil {
			parents[pid] = parent
		}
	}
	found := map[int]bool{}
	for pid := range parents {
		for up := parents[pid]; up > 1; up = parents[up] {
			if up == s.cmd.Process.Pid {
				found[pid] = true
				break
			}
		}
	}
	return found
}

// Split cuts the input of a shell into commands, as the shell itself would: an incomplete line is joined with the next.
func Split(ctx context.Context, pieces []page.Command) ([]page.Command, error) {
	var commands []page.Command
	for _, piece := range pieces {
		var open page.Command
		for i, line := range strings.SplitAfter(piece.Text, "\n") {
			if text := strings.TrimSpace(line); open.Text == "" && (text == "" || strings.HasPrefix(text, "#")) {
				continue
			}
			if open.Text == "" {
				open.Line = piece.Line + i
			}
			open.Text += line
			complete, err := isComplete(ctx, open.Text)
			if err != nil {
				return nil, err
			}
			if complete {
				commands = append(commands, open)
				open = page.Command{}
			}
		}
		if open.Text != "" {
			return nil, fmt.Errorf("the command that begins in line %d has no end", open.Line)
		}
	}
	return commands, nil
}

// isComplete checks with a shell whether text is complete. A syntax error at the end of the text means that it is not.
func isComplete(ctx context.Context, text string) (bool, error) {
	if strings.HasSuffix(text, "\\\n") {
		return false, nil
	}
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-n")
	cmd.Stdin = strings.NewReader(text)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	printed := string(out)
	switch {
	case strings.Contains(printed, "end of file"), strings.Contains(printed, "end-of-file"), strings.Contains(printed, "unexpected EOF"):
		return false, nil // The end of a construct, of a here-document (only a warning), or of quoted text is missing.
	case err != nil:
		return false, fmt.Errorf("no shell understands it: %s", strings.TrimSpace(printed))
	}
	return true, nil
}

func indent(text string) string {
	const most = 6000
	if len(text) > most {
		text = "…" + text[len(text)-most:]
	}
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}
