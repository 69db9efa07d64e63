package retry

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/rerun"
	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/retry"
)

// show writes what was created: a line, or the object in the format of -o; and to stderr what it runs.
func (o *Options) show(object *unstructured.Unstructured, plan *retry.Retry) error {
	for _, dropped := range plan.Dropped {
		fmt.Fprintln(o.ErrOut, "warning:", sanitize.Line(rerun.DroppedText(dropped)))
	}
	if o.printer != nil {
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
