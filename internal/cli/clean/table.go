package clean

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/pager"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/gather"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/kube/apicall"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/layout"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// countPods counts the pods of the Jobs, of which it reads only the metadata. Without permission, a line says so.
func (o *Options) countPods(ctx context.Context, chosen []*candidate) {
	var jobs []*batchv1.Job
	for _, c := range chosen {
		jobs = append(jobs, c.Job)
	}
	counts := map[types.UID]int{}
	client := o.client.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace(o.set.Namespace)
	pages := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return client.List(ctx, options)
	})
	err := pages.EachListItem(ctx, metav1.ListOptions{LabelSelector: gather.PodsOfJobs(jobs)}, func(item runtime.Object) error {
		if pod, ok := item.(*metav1.PartialObjectMetadata); ok {
			if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
				counts[owner.UID]++
			}
		}
		return nil
	})
	for _, c := range chosen {
		c.pods = counts[c.UID]
		if err != nil {
			c.pods = unknownPods
		}
	}
	if err != nil {
		call := apicall.Call{Verb: "list", Resource: "pods", Namespace: o.set.Namespace}
		fmt.Fprintln(o.ErrOut, sanitize.Line("The pods are not counted: "+cmdutil.ErrorLine(call.Wrap(err))))
	}
}

// podsOf returns the number of pods of all Jobs, and whether it is known.
func podsOf(chosen []*candidate) (pods int, known bool) {
	for _, c := range chosen {
		if c.pods == unknownPods {
			return 0, false
		}
		pods += c.pods
	}
	return pods, true
}

// printTable prints the Jobs that could go.
func (o *Options) printTable(chosen []*candidate) error {
	now := o.Now()
	columns := []layout.Column[*candidate]{
		{Header: "NAMESPACE", Hidden: !o.AllNamespaces, Min: 9, Middle: true, Text: func(c **candidate) string { return (*c).Namespace }},
		{Header: "NAME", Min: 12, Middle: true, Text: func(c **candidate) string { return (*c).Name }},
		{Header: "STATUS", Text: func(c **candidate) string { return string((*c).outcome) }},
		{Header: "AGE", Text: func(c **candidate) string { return wording.Age(now.Sub((*c).CreationTimestamp.Time)) }},
		{Header: "PODS", Text: func(c **candidate) string {
			if (*c).pods == unknownPods {
				return "?"
			}
			return wording.Thousands((*c).pods)
		}},
		{Header: "OWNER", Min: 12, Text: func(c **candidate) string { return cmp.Or(ownerOf((*c).Job), "-") }},
	}
	display := (&cmdutil.ColorFlag{}).Display(o.Env)
	table := layout.TableOf(columns, chosen)
	if display.ASCII {
		table.ToASCII()
	}
	header, lines := table.Lines(display.TableWidth(), layout.NewGlyphs(display.ASCII).Ellipsis)
	var text strings.Builder
	var plain layout.Theme
	for _, line := range append([]layout.Line{header}, lines...) {
		text.WriteString(strings.TrimRight(plain.Render(line), " ") + "\n")
	}
	_, err := io.WriteString(o.Out, text.String())
	return err
}
