package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// framesPerSecond is how often the terminal is written to at most. Bubble Tea's 60 cost a
// percent of a core with nothing to do.
const framesPerSecond = 20

// InteractiveFlag is --interactive.
type InteractiveFlag struct {
	wanted bool
}

func (f *InteractiveFlag) AddTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.wanted, "interactive", true, "Open the interactive view if stdin and stdout are a terminal; --interactive=false prints instead.")
}

// Possible says that there is a terminal to be interactive on.
func (f *InteractiveFlag) Possible(streams genericiooptions.IOStreams) bool {
	return f.wanted && onTerminal(streams.In) && onTerminal(streams.Out) && os.Getenv("TERM") != "dumb"
}

func onTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// A terminal keeps its title on a stack (xterm's window operations); those that cannot
// ignore both.
const (
	pushTitle = "\x1b[22;2t"
	popTitle  = "\x1b[23;2t"
)

// Viewer runs the interactive view on a terminal.
type Viewer struct {
	cmdutil.Env
	Display cmdutil.Display
}

// Show runs the view until the user or the Source ends it, and leaves the last picture on
// the terminal. The error is an interruption for Ctrl-C, or why the Source has ended.
func (v *Viewer) Show(ctx context.Context, o tui.Options) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	o.Context, o.Colour, o.ASCII, o.Location = waiting, v.Display.Color, v.Display.ASCII, v.Now().Location()
	o.Save, o.Mouse, o.Source = v.save, true, explained{o.Source}
	if o.Now == nil {
		o.Now = v.Now
	}
	model := tui.New(o)
	environ := v.environ()
	program := tea.NewProgram(model, tea.WithInput(v.In), tea.WithOutput(v.Out), tea.WithFPS(framesPerSecond),
		tea.WithoutSignalHandler(), tea.WithEnvironment(environ))
	// The signals end ctx; a view that quits restores the terminal.
	stop := context.AfterFunc(ctx, program.Quit)
	defer stop()
	fmt.Fprint(v.Out, pushTitle)
	_, err := program.Run()
	fmt.Fprint(v.Out, popTitle)
	if errors.Is(err, tea.ErrProgramPanic) {
		return cmdutil.NewUserError(cmdutil.KindOther, err, "the interactive view crashed; this is a bug, please report it with the output above", "use --interactive=false in the meantime")
	}
	v.leave(model.LastPicture(), environ)
	switch {
	case errors.Is(err, tea.ErrInterrupted), ctx.Err() != nil:
		return context.Canceled
	case err != nil:
		return fmt.Errorf("the interactive view: %w", err)
	}
	return model.Err()
}

// leave writes the last picture where the shell goes on.
func (v *Viewer) leave(picture string, environ []string) {
	if picture != "" {
		fmt.Fprintln(colorprofile.NewWriter(v.Out, environ), picture)
	}
}

// environ is what the view sees of the environment: --color has been decided already.
func (v *Viewer) environ() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return v.Display.Color && strings.HasPrefix(variable, "NO_COLOR=")
	})
}

// save writes a Snapshot into a new file of the working directory, for its owner only:
// logs are in it.
func (v *Viewer) save(s *snapshot.Snapshot) (string, error) {
	name := "batchjob"
	if !s.Focus.Job.IsZero() {
		name += "-" + fileWord(s.Focus.Job.Namespace) + "-" + fileWord(s.Focus.Job.Name)
	}
	name += "-" + s.Time.UTC().Format("20060102T150405.000Z") + ".json"
	file, err := CreateFile(name)
	if err != nil {
		return "", err
	}
	return name, errors.Join(snapshot.Write(file, s), file.Close())
}

// fileWord is a name as a part of a file's name: a recording may hold any.
func fileWord(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, name)
}

// explained is a Source whose errors are for users.
type explained struct{ snapshot.Source }

func (e explained) Next(ctx context.Context, seen uint64) (*snapshot.Snapshot, error) {
	s, err := e.Source.Next(ctx, seen)
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return s, err
	}
	return s, cmdutil.ExplainError(err)
}

// CreateFile makes a file that is not there yet.
func CreateFile(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%s already exists", name)
	}
	return file, err
}

// HeldLines keeps what libraries write while the view has the terminal, and prints it when
// it is gone.
type HeldLines struct {
	mu   sync.Mutex
	text []byte
	out  io.Writer // once the view is gone
}

// maxHeld is how much is kept.
const maxHeld = 16 << 10

func (h *HeldLines) Write(data []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.out != nil {
		return h.out.Write(data)
	}
	h.text = append(h.text, data[:min(len(data), maxHeld-len(h.text))]...)
	return len(data), nil
}

func (h *HeldLines) Release(out io.Writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.out = out
	_, _ = out.Write(h.text) // A terminal that is gone is noticed elsewhere.
	h.text = nil
}

// Clock is that of a recording that is played.
type Clock struct{ Env cmdutil.Env }

func (c Clock) Now() time.Time { return c.Env.Now() }

func (c Clock) Wait(ctx context.Context, d time.Duration) error {
	return c.Env.Timing().Pause(ctx, d, nil)
}
