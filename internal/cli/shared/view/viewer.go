// Package view runs the interactive view on the Jobs of a cluster.
package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/interrupt"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

// framesPerSecond is the maximum rate of writes to the terminal. Bubble Tea's default of 60 costs a percent of a core
// when idle.
const framesPerSecond = 20

// These sequences push and pop the terminal's title (xterm's window operations); terminals without this feature
// ignore both.
const (
	pushTitle = "\x1b[22;2t"
	popTitle  = "\x1b[23;2t"
)

// leaveView ends the modes that the view uses, if it cannot do so itself: reports of the mouse and of the focus, bracketed
// paste, the alternate screen, the hidden cursor.
const leaveView = "\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?1049l\x1b[?25h"

// Viewer runs the interactive view on a terminal.
type Viewer struct {
	cmdutil.Env
	Display cmdutil.Display
	// ReadOnly disables all actions that write to the cluster.
	ReadOnly bool
}

// Show runs the view until the user or the Source ends it, and leaves the explanation or the list on the terminal.
// The error is context.Canceled after Ctrl-C, or the error of the Source.
func (v *Viewer) Show(ctx context.Context, o tui.Options) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	o.Context, o.Color, o.ASCII, o.Location = waiting, v.Display.Color, v.Display.ASCII, v.Now().Location()
	o.Save, o.FileName, o.Mouse, o.Source = save, fileName, true, explained{o.Source}
	if o.Now == nil {
		o.Now = v.Now
	}
	if o.Namespaces != nil {
		o.Namespaces = explainedNamespaces{o.Namespaces}
	}
	if v.ReadOnly {
		o.Retrier, o.Changer, o.Runner = nil, nil, nil
	}
	model := tui.New(o)
	environ := slices.DeleteFunc(os.Environ(), func(variable string) bool { // --color overrides NO_COLOR.
		return v.Display.Color && strings.HasPrefix(variable, "NO_COLOR=")
	})
	program := tea.NewProgram(model, tea.WithInput(v.In), tea.WithOutput(v.Out), tea.WithFPS(framesPerSecond),
		tea.WithoutSignalHandler(), tea.WithEnvironment(environ))
	// Signals end ctx; a view that quits restores the terminal.
	stop := context.AfterFunc(ctx, program.Quit)
	defer stop()
	defer interrupt.OnExit(ctx, func() { fmt.Fprint(v.Out, leaveView+popTitle) })()
	fmt.Fprint(v.Out, pushTitle)
	_, err := program.Run()
	fmt.Fprint(v.Out, popTitle)
	if errors.Is(err, tea.ErrProgramPanic) {
		return cmdutil.NewUserError(cmdutil.KindOther, err, "the interactive view crashed; this is a bug, please report it with the output above", "use --interactive=false in the meantime")
	}
	if text := model.Scrollback(); text != "" { // It stays on the terminal above the shell's prompt.
		fmt.Fprintln(colorprofile.NewWriter(v.Out, environ), text)
	}
	switch {
	case errors.Is(err, tea.ErrInterrupted), ctx.Err() != nil:
		return context.Canceled
	case err != nil:
		return fmt.Errorf("the interactive view: %w", err)
	}
	return model.Err()
}

// ShowJob opens the interactive view of one Job.
func (v *Viewer) ShowJob(ctx context.Context, kube *cmdutil.KubeFlags, name string) error {
	return v.showOne(ctx, kube, name, tui.StartJob, DefaultLogLines)
}

// ShowExplanation opens the interactive view of one Job with its explanation. logLines is the number of last lines of
// logs in the evidence, 0 for none.
func (v *Viewer) ShowExplanation(ctx context.Context, kube *cmdutil.KubeFlags, name string, logLines int64) error {
	return v.showOne(ctx, kube, name, tui.StartExplain, logLines)
}

// ShowCronJob opens the interactive view of a CronJob, above the list of the Jobs of its namespace.
func (v *Viewer) ShowCronJob(ctx context.Context, kube *cmdutil.KubeFlags, name string) error {
	held := &HeldLines{}
	defer held.Release(v.ErrOut)
	live, err := OpenLive(DefaultLogLines, kube, cmdutil.JobChoice{}, held, v.Env)
	if err != nil {
		return err
	}
	if err := live.CheckCronJob(ctx, name); err != nil {
		return err
	}
	return live.Run(ctx, func(ctx context.Context, source snapshot.Source) error {
		options := live.Options(source)
		options.Start, options.Job = tui.StartCronJob, live.Named(name)
		return v.Show(ctx, options)
	})
}

// Simulation is a cluster that is simulated.
type Simulation interface {
	snapshot.Source
	screen.Retrier
	YAML(ctx context.Context, job types.NamespacedName, pod string) (string, error)
}

// ShowSimulation opens the interactive view of Jobs that are in no cluster, with the cursor on one of them. coach is
// a hint at what to do first, shown until a key is pressed.
func (v *Viewer) ShowSimulation(ctx context.Context, s Simulation, selected types.NamespacedName, coach string) error {
	return v.Show(ctx, tui.Options{
		Source: s, Retrier: s, YAML: s.YAML, Start: tui.StartJobs, What: "a simulation without a cluster", Badge: "simulation",
		Select: selected, Coach: coach,
	})
}

func (v *Viewer) showOne(ctx context.Context, kube *cmdutil.KubeFlags, name string, start tui.Start, logLines int64) error {
	held := &HeldLines{}
	defer held.Release(v.ErrOut)
	live, err := OpenLive(logLines, kube, cmdutil.JobChoice{Names: []string{name}}, held, v.Env)
	if err != nil {
		return err
	}
	if err := live.Check(ctx); err != nil {
		return err
	}
	return live.Run(ctx, func(ctx context.Context, source snapshot.Source) error {
		options := live.Options(source)
		options.Start, options.Job = start, live.Single()
		return v.Show(ctx, options)
	})
}

// fileName returns the name that is offered for the file of a Snapshot.
func fileName(s *snapshot.Snapshot) string {
	name := "batchjob"
	if opened := s.Focus.Opened().Job; opened.Name != "" {
		name += "-" + sanitize.FileName(opened.Namespace) + "-" + sanitize.FileName(opened.Name)
	}
	return name + "-" + s.Time.UTC().Format("20060102T150405.000Z") + ".json"
}

// save writes a Snapshot into a new file, readable only by its owner, as it contains logs.
func save(s *snapshot.Snapshot, name string) error {
	file, err := CreateFile(name)
	if err != nil {
		return err
	}
	return errors.Join(snapshot.Write(file, s), file.Close())
}

// explained is a Source whose errors are explained for users.
type explained struct{ snapshot.Source }

func (e explained) Next(ctx context.Context, seen uint64) (*snapshot.Snapshot, error) {
	s, err := e.Source.Next(ctx, seen)
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return s, err
	}
	return s, cmdutil.ExplainError(err)
}

// CreateFile creates a file, and fails if it exists.
func CreateFile(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%s already exists", name)
	}
	return file, err
}

// Clock is the clock for playing a recording.
type Clock struct{ Env cmdutil.Env }

// Now returns the time of the environment.
func (c Clock) Now() time.Time { return c.Env.Now() }

// Wait returns after d, or with the error of ctx.
func (c Clock) Wait(ctx context.Context, d time.Duration) error {
	return c.Env.Timing().Pause(ctx, d, nil)
}
