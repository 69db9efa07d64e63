package controller

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/cmdutil"
)

// MGB-02, SCL-12: flags are checked before anything is contacted.
func TestControllerFlagsAreCheckedFirst_MGB_02_SCL_12(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says string // "" for valid
	}{
		"defaults":           {nil, ""},
		"own name":           {[]string{"--managed-by", "example.com/jobs"}, ""},
		"no limit":           {[]string{"--kube-api-qps=-1"}, ""},
		"underscores":        {[]string{"--kube_api_burst=7"}, ""},
		"not a domain path":  {[]string{"--managed-by", "jobs"}, "domain"},
		"reserved":           {[]string{"--managed-by", "kubernetes.io/job-controller"}, "reserved"},
		"no requests at all": {[]string{"--kube-api-qps=0"}, "--kube-api-qps"},
		"no burst":           {[]string{"--kube-api-burst=0"}, "--kube-api-burst"},
		"no workers":         {[]string{"--concurrent-job-syncs=0"}, "--concurrent-job-syncs"},
		"namespace":          {[]string{"--namespaces", "a,B"}, `"B"`},
		"log format":         {[]string{"--logging-format=xml"}, "--logging-format"},
	} {
		streams, _, _, _ := genericiooptions.NewTestIOStreams()
		o := &Options{IOStreams: streams}
		cmd := newCommandFor(o)
		err := cmd.ParseFlags(c.args)
		if err == nil {
			err = o.Validate()
		}
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v", name, err)
		case err != nil && cmdutil.ExitCode(cmdutil.ExplainError(err)) != cmdutil.ExitUsage:
			t.Errorf("%s: exit code %d", name, cmdutil.ExitCode(err))
		}
	}
}

func TestControllerNamespacesAreSortedAndUnique(t *testing.T) {
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	o := &Options{IOStreams: streams}
	if err := newCommandFor(o).ParseFlags([]string{"--namespaces", "b,a", "-n", "b"}); err != nil {
		t.Fatal(err)
	}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b"}; !slices.Equal(o.config.Namespaces, want) {
		t.Errorf("got %v, want %v", o.config.Namespaces, want)
	}
	if got := namespacesText(o.config.Namespaces) + "; " + namespacesText(nil); got != "namespace a, b; all namespaces" {
		t.Errorf("got %q", got)
	}
}
