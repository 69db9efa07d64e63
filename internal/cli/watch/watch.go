// Package watch implements the verb watch: it shows Jobs live, in the interactive view or as lines.
package watch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/batchjob-dev/kubectl-batchjob/internal/bundle"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/follow"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/owners"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/view"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/tui/snapshot"
)

const watchLong = `Watch Jobs live: an interactive view of a list of Jobs, or of one Job with its
indexes, limits, causes, pods, logs and explanation. Press ? for the keys.

Without a terminal, or with --plain, it prints a line for each change. With
--exit-status, it exits when all Jobs have finished: with 0, or with 3 if one
has failed.`

// watchDetails is text for the reference only.
const watchDetails = `R retries a failed Job, or runs a CronJob now, Z suspends or resumes a Job, and
ctrl+d deletes it, each after a confirmation; no other key writes to the
cluster, and with --read-only, none does. The view reconnects automatically when
the connection to the API server is lost.

With --exit-status, the command waits for Jobs if there are none yet.

--record writes what is shown to a file, and --from plays such a file without
a cluster. The file contains what the API server sent, including logs.

Exit codes:
  0    done; with --exit-status: all Jobs are complete
  1    error; with --exit-status also if a Job was deleted before it finished
  2    wrong usage
  3    with --exit-status: a Job has failed
  130  interrupted (Ctrl-C); with --exit-status also if you quit before the end
  143  terminated (SIGTERM)`

const watchExample = `  # The Jobs in the current namespace, live
  kubectl batchjob watch

  # One Job: index map, rules, limits, timers
  kubectl batchjob watch train

  # A CronJob: next start, the last runs, and R to run it now
  kubectl batchjob watch cronjob/nightly

  # In CI: a line for each change, and the Job's result as the exit code
  kubectl batchjob watch train --plain --exit-status

  # Record a session for a bug report, and replay it ten times as fast
  kubectl batchjob watch train --record train.jsonl
  kubectl batchjob watch --from train.jsonl --speed 10`

// Options are the flags of the watch verb, and the values derived from them.
type Options struct {
	cmdutil.Env
	kube        *cmdutil.KubeFlags
	color       cmdutil.ColorFlag
	interactive view.InteractiveFlag

	cmdutil.JobChoice
	cronJob     string // "" for Jobs
	exitStatus  bool
	plain       bool
	record      string
	replay      string
	speed       float64
	speedGiven  bool
	replayGiven bool

	held *view.HeldLines
}

// NewCommand returns the command watch, with its flags.
func NewCommand(env cmdutil.Env) *cobra.Command {
	o := &Options{Env: env, kube: env.KubeFlags(), held: &view.HeldLines{}}
	cmd := &cobra.Command{
		Use:               "watch [NAME | job/NAME ... | cronjob/NAME]",
		Short:             "Watch Jobs live, in an interactive view",
		Long:              watchLong,
		Example:           watchExample,
		Annotations:       cmdutil.Details(watchDetails),
		ValidArgsFunction: cmdutil.CompleteJobsOrCronJob(o.kube, func() bool { return o.ExcludesNames() || o.replay != "" }),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.speedGiven, o.replayGiven = cmd.Flags().Changed("speed"), cmd.Flags().Changed("from")
			if err := o.Validate(args); err != nil {
				return err
			}
			return o.Run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	o.AddChoice(flags, "Jobs in all namespaces.")
	flags.BoolVar(&o.exitStatus, "exit-status", false, "Exit at the end, with 3 if a Job has failed.\nThe end is when all Jobs have finished.")
	flags.BoolVar(&o.plain, "plain", false, "Print a line for each change, without the view.")
	flags.StringVar(&o.record, "record", "", "Write what is shown to this new file.\nIt has JSON lines.")
	flags.StringVar(&o.replay, "from", "", "Bundle or recording to play; needs no cluster.")
	flags.Float64Var(&o.speed, "speed", 1, "How much faster to play; 0 for no delays.")
	o.interactive.AddTo(cmd)
	o.color.AddTo(cmd)
	o.kube.AddTo(cmd)
	return cmd
}

// Validate checks arguments and flags; its errors are usage errors.
func (o *Options) Validate(args []string) error {
	if err := o.ValidateChoice(args); err != nil {
		return err
	}
	if err := o.validateReplay(args); err != nil {
		return err
	}
	cronJobs, args, err := owners.Split(args, cmdutil.CronJobKinds())
	if err != nil {
		return err
	}
	if o.Names, err = cmdutil.ParseJobArgs(args); err != nil {
		return err
	}
	switch {
	case len(cronJobs) == 0:
	case len(cronJobs)+len(o.Names) > 1:
		return cmdutil.UsageErrorf("name one CronJob, and nothing else")
	case o.exitStatus || o.plain:
		return cmdutil.UsageErrorf("a CronJob is watched only in the interactive view; omit --plain and --exit-status")
	default:
		o.cronJob = cronJobs[0].Name
	}
	return o.color.Validate()
}

func (o *Options) validateReplay(args []string) error {
	switch {
	case o.replay == "" && o.replayGiven:
		return cmdutil.UsageErrorf("--from requires a file name")
	case o.replay == "" && o.speedGiven:
		return cmdutil.UsageErrorf("--speed requires --from")
	case o.replay == "":
		return nil
	case len(args) > 0 || o.ExcludesNames():
		return cmdutil.UsageErrorf("--from shows the recorded Jobs; omit names, -A and -l")
	case o.record != "":
		return cmdutil.UsageErrorf("--record and --from cannot be used together")
	case o.exitStatus:
		return cmdutil.UsageErrorf("--exit-status and --from cannot be used together")
	case !(o.speed >= 0 && o.speed <= 1e6): // NaN too
		return cmdutil.UsageErrorf("--speed=%g: must be between 0 and 1000000", o.speed)
	}
	return nil
}

// isPlain reports whether to print lines.
func (o *Options) isPlain() bool { return o.plain || !o.interactive.Possible(o.IOStreams) }

// Run shows Jobs until the user or --exit-status ends it.
func (o *Options) Run(ctx context.Context) error {
	if o.replay != "" {
		return o.play(ctx)
	}
	warnings := o.ErrOut
	if o.cronJob != "" && o.isPlain() {
		return cmdutil.NewUserError(cmdutil.KindOther, nil, "a CronJob is watched only in the interactive view, which needs a terminal",
			"print it with: kubectl batchjob status cronjob/"+explain.ShellWord(o.cronJob))
	}
	if !o.isPlain() {
		warnings = o.held
		defer o.held.Release(o.ErrOut)
	}
	live, err := view.OpenLive(view.DefaultLogLines, o.kube, o.JobChoice, warnings, o.Env)
	if err != nil {
		return err
	}
	if o.cronJob != "" {
		err = live.CheckCronJob(ctx, o.cronJob)
	} else {
		err = live.Check(ctx)
	}
	if err != nil {
		return err
	}
	if o.record == "" {
		return live.Run(ctx, func(ctx context.Context, source snapshot.Source) error { return o.show(ctx, source, live) })
	}
	file, err := view.CreateFile(o.record)
	if err != nil {
		return fileError("--record", err)
	}
	out := bufio.NewWriter(file)
	err = live.Run(ctx, func(ctx context.Context, source snapshot.Source) error {
		return o.show(ctx, snapshot.NewRecorder(source, out, live.What()), live)
	})
	if failed := errors.Join(out.Flush(), file.Close()); failed != nil {
		err = errors.Join(err, fileError("--record", failed))
	}
	return err
}

// show draws or prints the Snapshots of the source.
func (o *Options) show(ctx context.Context, source snapshot.Source, live *view.Live) error {
	words := follow.Words{Past: "finished", Namespaces: o.AllNamespaces, Selected: o.Selector != ""}
	end := &exitStatus{names: o.Names, words: words}
	var err error
	if o.isPlain() {
		plain := &plainView{out: o.Out, errOut: o.ErrOut, now: o.Now, namespaces: o.AllNamespaces, job: live.Single()}
		err = plain.follow(ctx, source, func(s *snapshot.Snapshot) bool { return o.exitStatus && end.observe(s) })
	} else {
		options := live.Options(source)
		if o.cronJob != "" {
			options.Start, options.Job = tui.StartCronJob, live.Named(o.cronJob)
		}
		if key := live.Single(); key.Name != "" {
			options.Start, options.Job = tui.StartJob, key
		}
		switch {
		case o.exitStatus:
			options.EndWhen = end.observe
		case o.record == "": // A recording has only one set of Jobs.
			options.Namespaces = live.Namespaces()
		}
		err = o.interactive.Viewer(o.Env, o.color.Display(o.Env)).Show(ctx, options)
	}
	if err != nil || !o.exitStatus {
		return err
	}
	return end.result()
}

// play shows a recording.
func (o *Options) play(ctx context.Context) error {
	file, err := os.Open(o.replay)
	if err != nil {
		return fileError("--from", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	recording, err := recordingIn(bufio.NewReader(file))
	if err != nil {
		return fileError("--from "+o.replay, err)
	}
	player, err := snapshot.NewPlayer(recording, view.Clock{Env: o.Env}, o.speed)
	if err != nil {
		return fileError("--from "+o.replay, err)
	}
	if o.isPlain() {
		plain := &plainView{out: o.Out, errOut: o.ErrOut, now: player.Now, namespaces: true}
		return plain.follow(ctx, player, func(*snapshot.Snapshot) bool { return false })
	}
	options := tui.Options{Source: player, Now: player.Now, Replay: o.speed, What: player.What(), Follow: true}
	if first := player.First().Opened(); first.Job.Name != "" {
		options.Start, options.Job = tui.StartJob, first.Job
	}
	return o.interactive.Viewer(o.Env, o.color.Display(o.Env)).Show(ctx, options)
}

// recordingIn returns the recording in a bundle, or the file itself.
func recordingIn(file *bufio.Reader) (io.Reader, error) {
	if !bundle.Is(file) {
		return file, nil
	}
	recording, err := bundle.Recording(file)
	return bytes.NewReader(recording), err
}

// fileError returns an error about the file of a flag.
func fileError(flag string, err error) error {
	return cmdutil.NewUserError(cmdutil.KindOther, err, flag+": "+err.Error(), "")
}
