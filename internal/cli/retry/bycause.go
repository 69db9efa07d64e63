package retry

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/rerun"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// byCause selects indexes by why they failed, and raises the memory of containers that ran out of it.
type byCause struct {
	rerun.ByFailure
	memory  string
	inPlace bool

	raise  *retry.MemoryRaise // nil without --memory
	raised *rerun.Raised
}

func (b *byCause) addTo(flags *pflag.FlagSet) {
	flags.Lookup("container").Usage = "Container to change; by default all of them.\nIt is for --image, --set-env, --requests, --limits and --memory."
	flags.StringVar(&b.Cause, "cause", "", "Run indexes that last failed like this.\nIt is a cause as why prints it, such as OOMKilled or \"exit code 3\".")
	flags.StringVar(&b.memory, "memory", "", "More memory after OOMKilled: x2 or +4Gi,max=32Gi.\nIt is for the containers that ran out of it, or for --container.\nThe cap is max=, or 8 times the limit of the first Job.")
	flags.BoolVar(&b.inPlace, "in-place", false, "Raise --memory of a Job that has not finished.\nIt is suspended, its pods end, and it is resumed with more.")
	flags.BoolVar(&b.Probable, "include-probable", false, "Also if only a log says that memory ran out.\nIt is for --cause OOMKilled and --memory.")
}

// validate checks the flags; its errors are usage errors.
func (b *byCause) validate(flags *pflag.FlagSet, c *changes, request *retry.Request) (err error) {
	b.Container = c.Container()
	if err := b.validateInPlace(flags); err != nil {
		return err
	}
	switch {
	case flags.Changed("cause") && b.Cause == "":
		return cmdutil.UsageErrorf("--cause: name a cause, such as OOMKilled")
	case b.Cause != "" && (request.FailedOnly || request.Indexes != nil):
		return cmdutil.UsageErrorf("--cause excludes --indexes and --failed-only")
	case b.Probable && b.Cause == "" && !flags.Changed("memory"):
		return cmdutil.UsageErrorf("--include-probable is for --cause and --memory")
	case !flags.Changed("memory"):
		return nil
	case c.SetsMemory():
		return cmdutil.UsageErrorf("--memory excludes the memory of --limits and --requests")
	}
	if b.raise, err = retry.ParseMemoryRaise(b.memory); err != nil {
		return cmdutil.UsageErrorf("--memory=%s: %v", b.memory, err)
	}
	b.Memory = true
	return nil
}

// besideInPlace are the flags of the verb that --in-place allows.
var besideInPlace = []string{
	"in-place", "cause", "memory", "container", "include-probable", "field-manager", "wait", "watch", "timeout", "dry-run",
}

func (b *byCause) validateInPlace(flags *pflag.FlagSet) (err error) {
	if !b.inPlace {
		return nil
	}
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	(&cmdutil.KubeFlags{}).AddFlags(own)
	flags.Visit(func(f *pflag.Flag) {
		if own.Lookup(f.Name) == nil && !slices.Contains(besideInPlace, f.Name) {
			err = cmdutil.UsageErrorf("--in-place changes nothing but memory; leave out --%s", f.Name)
		}
	})
	return err
}

// choose selects the indexes of the request by their last failures; it returns nil without the flags.
func (b *byCause) choose(ctx context.Context, client *rerun.Client, found *rerun.Candidate, request *retry.Request) (*rerun.Chosen, error) {
	if b.Cause == "" && b.raise == nil {
		return nil, nil
	}
	plan, err := found.Plan(retry.Request{Replace: request.Replace, Indexes: request.Indexes})
	if err != nil {
		return nil, err // A Job that cannot be retried has no causes to choose from.
	}
	chosen, err := client.Choose(ctx, found, plan.Indexes, b.ByFailure)
	if err == nil && b.Cause != "" {
		request.Indexes = chosen.Indexes()
	}
	return chosen, err
}

// apply raises the memory in the Job.
func (b *byCause) apply(ctx context.Context, chosen *rerun.Chosen, job *unstructured.Unstructured) (err error) {
	if b.raise != nil {
		b.raised, err = chosen.Raise(ctx, job, b.raise)
	}
	return err
}

// print prints lines about the memory.
func (b *byCause) print(out io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(out, sanitize.Line(line))
	}
}
