package retry

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/rerun"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// show prints the created Job: a line, or the object in the format of -o; and to stderr the indexes that it runs.
func (o *Options) show(object *unstructured.Unstructured, plan *retry.Retry) error {
	for _, dropped := range plan.Dropped {
		fmt.Fprintln(o.ErrOut, "warning:", sanitize.Line(rerun.DroppedText(dropped)))
	}
	if o.printer != nil {
		o.noteSteps(plan)
		return o.printer.PrintObj(object, o.Out)
	}
	line := "job.batch/" + sanitize.Line(object.GetName())
	if o.print.Format() == "name" {
		_, err := fmt.Fprintln(o.Out, line)
		return err
	}
	line += " created" + map[string]string{dryRunClient: " (dry run)", dryRunServer: " (server dry run)"}[o.dryRun]
	_, err := fmt.Fprintln(o.Out, line)
	fmt.Fprintln(o.ErrOut, sanitize.Line(rerun.RunsText(plan)))
	return err
}

// stepsNotes is printed with a Job that is not created by this program: created by another client, it would run
// nothing.
const stepsNotes = `# This Job is suspended until the verb retry has written its status and resumes it:
# applied by something else, it runs nothing. For Git, use --by-annotation, with which
# the controller of this program runs the chosen indexes.
`

// noteSteps prints, as a comment, that a Job which is only printed needs more than its creation.
func (o *Options) noteSteps(plan *retry.Retry) {
	if plan.Steps == nil || o.dryRun == dryRunNone {
		return
	}
	if o.print.Format() == "yaml" {
		fmt.Fprint(o.Out, stepsNotes)
		return
	}
	fmt.Fprint(o.ErrOut, strings.ReplaceAll(stepsNotes, "# ", ""))
}
