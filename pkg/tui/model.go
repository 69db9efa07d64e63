package tui

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/joblist"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// Start says which screen comes first.
type Start int

// The screens to start with.
const (
	StartJobs Start = iota
	StartJob
	StartExplain
)

// Options are what a Model needs.
type Options struct {
	// Context ends the waiting for Snapshots.
	Context context.Context //nolint:containedctx // commands of Bubble Tea get none
	Source  snapshot.Source
	// Now is the clock that ticks bring into Update.
	Now func() time.Time
	// Start and Job are the first screen. StartJobs ignores Job.
	Start Start
	Job   snapshot.JobKey
	// What describes the set of Jobs, for the list: "namespace ml". Select is the Job under the cursor at first, the first
	// of the list if it is zero.
	What   string
	Select snapshot.JobKey
	// Coach is what to do first, in a line that is shown until a key is pressed; "" for nothing.
	Coach string
	// Color and ASCII are what the terminal can show. Its background is asked for later.
	Color bool
	ASCII bool
	Light bool
	// Mouse switches the reports of the mouse wheel on.
	Mouse    bool
	Location *time.Location
	// Namespace is the one that kubectl uses where none is given: commands leave it out. With "", they name theirs.
	Namespace string
	// Replay is the speed of a recording that is played, 0 for a cluster.
	Replay float64
	// Badge is shown beside the time: what is not a cluster, "" for one.
	Badge string
	// Follow goes to the screen that each Snapshot is about, as a recording does.
	Follow bool
	// Save writes what is shown to a file, and returns its name.
	Save func(*snapshot.Snapshot) (string, error)
	// Retrier creates retries of failed Jobs, nil to write nothing.
	Retrier screen.Retrier
	// Changer suspends, resumes and deletes Jobs, nil to write nothing.
	Changer screen.Changer
	// Namespaces changes the namespace of the list, nil if that stays.
	Namespaces Namespaces
	// EndWhen reports whether to end the view; nil if only the user does.
	EndWhen func(*snapshot.Snapshot) bool
}

// Model is the state of the view, for Bubble Tea.
type Model struct {
	o      Options
	theme  *layout.Theme
	glyphs layout.Glyphs

	width, height int
	now           time.Time
	data          screen.Data
	screens       screens
	focus         focus
	pause         pause

	// mayRetry are the namespaces whose permissions were asked for, true where retries may be created.
	mayRetry map[string]bool

	absolute bool
	mouse    bool
	help     *helpScreen
	prompt   *widget.Prompt
	notice   notice
	// typed is a namespace that was typed and is not open yet; before is the one to go back to if the Jobs of the one that
	// was opened last cannot be read.
	typed, before *string
	// keyed is true once a key was pressed.
	keyed bool
	// over is why the Source ended.
	over error
	quit bool

	// frame is the last one; drawn is true while it is up to date.
	frame tea.View
	drawn bool
}

// notice is a line that is shown for a while.
type notice struct {
	text  string
	until time.Time
}

// noticeTime is how long.
const noticeTime = 4 * time.Second

type (
	// tickMsg is the time, once a second.
	tickMsg time.Time
	// snapshotMsg is the next Snapshot of a Source, or why there is none.
	snapshotMsg struct {
		of   snapshot.Source
		snap *snapshot.Snapshot
		err  error
	}
	// doneMsg is what a Task returned.
	doneMsg func() screen.Action
)

// New returns a Model that has drawn nothing yet.
func New(o Options) *Model {
	if o.Location == nil {
		o.Location = time.UTC
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	m := &Model{o: o, glyphs: layout.NewGlyphs(o.ASCII), theme: newTheme(o.Color, o.Light), width: 80, height: 24, mouse: o.Mouse, now: o.Now()}
	m.data, m.mayRetry = screen.Data{Snap: &snapshot.Snapshot{}, Since: m.now}, map[string]bool{}
	switch o.Start {
	case StartJob:
		m.screens = newScreens(job.New(o.Job))
	case StartExplain:
		m.screens = newScreens(job.New(o.Job), job.NewExplanation(o.Job))
	default:
		m.screens = newScreens(m.newList())
	}
	m.resize(m.width, m.height)
	m.look() // A list has no preview yet.
	return m
}

func newTheme(color, light bool) *layout.Theme {
	switch {
	case !color:
		return layout.NewTheme(layout.Colorless)
	case light:
		return layout.NewTheme(layout.Light)
	}
	return layout.NewTheme(layout.Dark)
}

// Init asks for the first Snapshot, the first tick, and the background color.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.next(), tick(m.o.Now)}
	if m.o.Color {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

// next waits for the next Snapshot.
func (m *Model) next() tea.Cmd {
	ctx, source, seen := m.o.Context, m.o.Source, m.pause.latest(m.data.Snap).Seq
	return func() tea.Msg {
		snap, err := source.Next(ctx, seen)
		return snapshotMsg{of: source, snap: snap, err: err}
	}
}

func tick(now func() time.Time) tea.Cmd {
	return tea.Every(time.Second, func(time.Time) tea.Msg { return tickMsg(now()) })
}

func (m *Model) newList() screen.Screen {
	return joblist.New(joblist.Options{What: m.o.What, Select: m.o.Select, Recorded: m.o.Follow})
}

// look passes the Focus of the screen to the Source, if that has changed; that of a preview after a while.
func (m *Model) look() tea.Cmd {
	f := m.screens.top().Focus()
	now, timer := m.focus.change(f)
	if now {
		m.data.Since = m.now
		m.o.Source.Look(f)
	}
	return timer
}

// Update takes one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	if f, ok := m.screens.top().(screen.Follower); ok {
		f.Follow(&m.data)
	}
	if m.quit {
		return m, cmd
	}
	return m, tea.Batch(cmd, m.look(), m.askPermission())
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	drawn := m.drawn
	m.drawn = false
	switch msg := msg.(type) {
	case tickMsg:
		m.now = time.Time(msg)
		return tick(m.o.Now)
	case snapshotMsg:
		return m.news(msg)
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case tea.BackgroundColorMsg:
		m.theme = newTheme(m.o.Color, !msg.IsDark())
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		// A question has one line.
		if m.prompt != nil {
			m.prompt.Insert(strings.Join(strings.Fields(msg.Content), " "))
		}
	case tea.MouseWheelMsg:
		m.wheel(msg)
	case restMsg:
		m.focus.rested = snapshot.Focus(msg)
	case doneMsg:
		return m.act(msg())
	default:
		m.drawn = drawn // Nothing that shows.
	}
	return nil
}

func (m *Model) resize(width, height int) {
	m.width, m.height = max(1, width), max(1, height)
	m.data.Width, m.data.Height = m.width, max(1, m.height-2)
}

// news shows or holds a Snapshot, and asks for the next one.
func (m *Model) news(msg snapshotMsg) tea.Cmd {
	if msg.of != nil && msg.of != m.o.Source {
		return nil // It is of a namespace that was left.
	}
	if msg.err != nil {
		return m.end(msg.err)
	}
	if m.o.Now().After(m.now) {
		m.now = m.o.Now()
	}
	if m.pause.on && m.focus.isIn(m.data.Snap) {
		m.pause.held = msg.snap
	} else {
		m.show(msg.snap)
		m.pause.since = m.now
	}
	if m.o.EndWhen != nil && m.o.EndWhen(msg.snap) {
		m.show(msg.snap)
		m.quit = true
		return tea.Quit
	}
	return m.next()
}

// end keeps what was shown last, unless another namespace can be shown again.
func (m *Model) end(err error) tea.Cmd {
	if cmd := m.reopen(err); cmd != nil {
		return cmd
	}
	m.over = err
	// A view that ends by itself may have no one to close it.
	if !errors.Is(err, io.EOF) && (!m.data.Snap.IsShown() || m.o.EndWhen != nil) {
		m.quit = true
		return tea.Quit
	}
	return nil
}

func (m *Model) show(s *snapshot.Snapshot) {
	if f := s.Looked(); m.o.Follow && !f.Equal(m.data.Snap.Looked()) {
		m.screens.follow(f, m.newList)
	}
	m.pause.held = nil
	m.data.Take(s)
}

// Err is why the Source ended, nil if it has not, or at the end of a recording.
func (m *Model) Err() error {
	if errors.Is(m.over, io.EOF) || errors.Is(m.over, context.Canceled) {
		return nil
	}
	return m.over
}

// Shown is the last Snapshot that was on the screen.
func (m *Model) Shown() *snapshot.Snapshot { return m.data.Snap }
