package create

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/creation"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
)

// createAll creates what can be created. problems are those of reading.
func (o *Options) createAll(ctx context.Context, objects []*manifest.Object, problems []error) error {
	for i, object := range objects {
		if bad := o.manifests.Prepare(object, o.dryRun == dryRunClient); len(bad) > 0 {
			problems = append(problems, bad...)
			continue
		}
		created, err := o.send(ctx, object)
		if err == nil {
			err = o.show(created)
		}
		if err == nil {
			continue
		}
		problems = append(problems, creation.Locate(object, err)...)
		if !creation.ConcernsObject(err) {
			if left := len(objects) - i - 1; left > 0 {
				problems = append(problems, cmdutil.NewUserError(cmdutil.KindOther, nil, fmt.Sprintf("%d more objects were not sent", left), ""))
			}
			break
		}
	}
	return errors.Join(problems...)
}

func (o *Options) send(ctx context.Context, object *manifest.Object) (*unstructured.Unstructured, error) {
	content := &unstructured.Unstructured{Object: object.Content}
	if o.creator == nil {
		return content, ctx.Err()
	}
	return o.creator.Create(ctx, content)
}

// show writes what was created: a line, or the object in the format of -o.
func (o *Options) show(object *unstructured.Unstructured) error {
	if o.printer != nil {
		return o.printer.PrintObj(object, o.Out)
	}
	name := object.GetName()
	if name == "" {
		name = object.GetGenerateName() + "<generated>"
	}
	line := strings.ToLower(object.GetKind()) + "." + object.GroupVersionKind().Group + "/" + sanitize.Line(name)
	if o.print.Format() != "name" {
		line += " created" + map[string]string{dryRunClient: " (dry run)", dryRunServer: " (server dry run)"}[o.dryRun]
	}
	_, err := fmt.Fprintln(o.Out, line)
	return err
}
