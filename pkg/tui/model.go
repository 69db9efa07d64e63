package tui

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/job"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/joblist"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/screen"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/widget"
)

// Start selects the first screen.
type Start int

// The first screens.
const (
	StartJobs Start = iota
	StartJob
	StartExplain
	StartCronJob
)

// Options configure a Model.
type Options struct {
	// Context cancels the waiting for Snapshots.
	Context context.Context // commands of Bubble Tea get none
	Source  snapshot.Source
	// Now is the clock whose time ticks pass to Update.
	Now func() time.Time
	// Start and Job select the first screen. StartJobs ignores Job; of StartCronJob, Job is the name of the CronJob.
	Start Start
	Job   types.NamespacedName
	// What describes the set of Jobs in the list, such as "namespace ml". Select is the Job initially under the cursor; if it
	// is zero, the first Job of the list.
	What   string
	Select types.NamespacedName
	// Coach is a hint about the first step, shown in a line until a key is pressed; "" for none.
	Coach string
	// Color and ASCII describe the terminal. Its background color is requested later.
	Color bool
	ASCII bool
	Light bool
	// Mouse enables events of the mouse wheel.
	Mouse    bool
	Location *time.Location
	// Namespace is kubectl's current namespace, which commands omit. If it is "", commands name their namespace.
	Namespace string
	// Replay is the speed at which a recording is played; 0 for a cluster.
	Replay float64
	// Badge is shown next to the time to mark data that is not from a cluster; "" for a cluster.
	Badge string
	// Follow opens the screen for the Focus of each Snapshot, for recordings.
	Follow bool
	// Save writes a Snapshot to a new file. FileName returns the name that is offered for it.
	Save     func(s *snapshot.Snapshot, file string) error
	FileName func(*snapshot.Snapshot) string
	// YAML reads a Job, or a pod of it if pod is not "", as YAML; nil if there is no cluster to read from.
	YAML screen.ReadYAML
	// Retrier creates retries of failed Jobs; nil if the view is read-only.
	Retrier screen.Retrier
	// Runner runs CronJobs now; nil if the view is read-only.
	Runner screen.Finder
	// Changer suspends, resumes and deletes Jobs; nil if the view is read-only.
	Changer screen.Changer
	// Namespaces changes the namespace of the list; nil if it is fixed.
	Namespaces Namespaces
	// EndWhen reports whether the view ends with this Snapshot; nil if only the user ends it.
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

	// mayRetry has the namespaces for which permission was requested; true if the user may create retries there.
	mayRetry map[string]bool

	absolute bool
	mouse    bool
	help     *helpScreen
	prompt   *widget.Prompt
	notice   notice
	// answered is what the answer to a prompt leads to; nil for nothing.
	answered func() tea.Cmd
	// before is the namespace to return to if the Jobs of the last opened one cannot be read. single is the last namespace
	// that was shown alone, "" for none.
	before *string
	single string
	// keyed is set when a key was pressed.
	keyed bool
	// over is the error with which the Source ended.
	over error
	quit bool

	// frame is the last frame; drawn is set while it is up to date.
	frame tea.View
	drawn bool
}

// notice is a text that is shown in the last line for a while.
type notice struct {
	text  string
	until time.Time
}

// pause freezes the view while newer Snapshots arrive.
type pause struct {
	on bool
	// since is the time that is shown during the pause.
	since time.Time
	// held is the newest Snapshot, nil if it is already shown.
	held *snapshot.Snapshot
}

// latest returns the newest Snapshot, shown or held.
func (p *pause) latest(shown *snapshot.Snapshot) *snapshot.Snapshot {
	if p.held != nil {
		return p.held
	}
	return shown
}

// noticeTime is how long a notice is shown.
const noticeTime = 4 * time.Second

type (
	// tickMsg is the current time, sent once a second.
	tickMsg time.Time
	// snapshotMsg is the next Snapshot of a Source, or the error with which it ended.
	snapshotMsg struct {
		of   snapshot.Source
		snap *snapshot.Snapshot
		err  error
	}
	// doneMsg is the function that a Task returned.
	doneMsg func() screen.Action
)

// New returns a Model.
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
	case StartCronJob:
		m.screens = newScreens(m.newList(), job.NewCronJob(o.Job))
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

// Init requests the first Snapshot, the first tick, and the background color.
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

// look passes the Focus of the screen to the Source if it has changed; for a preview, after restTime.
func (m *Model) look() tea.Cmd {
	f := m.screens.top().Focus()
	now, timer := m.focus.change(f)
	if now {
		m.data.Since = m.now
		m.o.Source.Look(f)
	}
	return timer
}

// Update handles one message.
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
		// A prompt has one line.
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
		m.drawn = drawn // The message changes nothing visible.
	}
	return nil
}

func (m *Model) resize(width, height int) {
	m.width, m.height = max(1, width), max(1, height)
	m.data.Width, m.data.Height = m.width, max(1, m.height-2)
}

// news shows or holds a Snapshot, and requests the next one.
func (m *Model) news(msg snapshotMsg) tea.Cmd {
	if msg.of != nil && msg.of != m.o.Source {
		return nil // It belongs to a namespace that is no longer open.
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

// end keeps the last Snapshot on the screen, unless the previous namespace can be reopened.
func (m *Model) end(err error) tea.Cmd {
	if cmd := m.reopen(err); cmd != nil {
		return cmd
	}
	m.over = err
	// A view that ends by itself may have no user to close it.
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
	m.data.SetSnapshot(s)
}

// Err returns the error with which the Source ended; nil if it has not ended, or at the end of a recording.
func (m *Model) Err() error {
	if errors.Is(m.over, io.EOF) || errors.Is(m.over, context.Canceled) {
		return nil
	}
	return m.over
}

// Shown returns the last Snapshot that was shown.
func (m *Model) Shown() *snapshot.Snapshot { return m.data.Snap }
