package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/report"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
)

// options holds the flags.
type options struct {
	kubeconfig, context string
	managedBy           string
	pods, image         string
	output              report.Format
	run                 string
	match               *regexp.Regexp
	list, fast          bool
}

// Values of --pods: how pods run.
const (
	podsSimulated = "simulated"
	podsImage     = "image"
)

const usage = `Check whether a Job controller keeps the promises of the Jobs API.

The controller runs already. Each case creates Jobs for it, has their pods end, and compares what
the API server stores with what the API promises. Progress is on stderr, the report on stdout.

Examples:
  # The controller that is built into Kubernetes
  conformance

  # A controller of Jobs with this spec.managedBy
  conformance --managed-by example.com/x

  # With real containers, and a JUnit report
  conformance --managed-by example.com/x --pods image --image busybox:1.36 -o junit >report.xml

  # Only some of the cases
  conformance --managed-by example.com/x --run 'per-index|success-policy'

  # What is checked, and where it is promised
  conformance --list

Exit codes: 0 if no case failed, 1 if one did, 2 for a usage error or a cluster that cannot be used.

Flags:
`

func parse(args []string, out io.Writer) (*options, error) {
	o := &options{output: report.Text}
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "Path to the kubeconfig `file`; by default that of kubectl")
	flags.StringVar(&o.context, "context", "", "`Name` of the context in the kubeconfig file")
	flags.StringVar(&o.managedBy, "managed-by", "", "spec.managedBy of the Jobs: the `name` of the controller to test. Without it, the Jobs are for the built-in controller")
	flags.StringVar(&o.pods, "pods", podsSimulated, "How pods run: simulated, on a node that this program adds and removes, without containers; or image, on the nodes of the cluster. One of `(simulated, image)`")
	flags.StringVar(&o.image, "image", "busybox:1.36", "`Image` for --pods image; it needs sh, cat, mv and sleep")
	flags.Var(&o.output, "o", "Output `format`. One of: (text, json, junit)")
	flags.StringVar(&o.run, "run", "", "Run only the cases whose names match this regular `expression`")
	flags.BoolVar(&o.list, "list", false, "List the cases without running them")
	flags.BoolVar(&o.fast, "fast", false, "Leave out the cases that wait for a back-off or a deadline")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(out, usage)
		flags.SetOutput(out)
		flags.PrintDefaults()
	}
	if err != nil {
		return nil, err
	}
	return o, o.validate(flags.Args())
}

func (o *options) validate(arguments []string) error {
	var err error
	o.match, err = regexp.Compile(o.run)
	switch {
	case err != nil:
		return fmt.Errorf("--run: %w", err)
	case len(arguments) > 0:
		return fmt.Errorf("unexpected argument %q", arguments[0])
	case o.pods != podsSimulated && o.pods != podsImage:
		return fmt.Errorf("--pods must be simulated or image, not %q", o.pods)
	case o.managedBy != "" && !strings.Contains(o.managedBy, "/"):
		return fmt.Errorf("--managed-by must be a domain-prefixed path such as example.com/x, not %q", o.managedBy)
	}
	return nil
}

// choose returns the cases to run.
func (o *options) choose(all []suite.Case) []suite.Case {
	return slices.DeleteFunc(slices.Clone(all), func(c suite.Case) bool {
		return !o.match.MatchString(c.Name) || o.fast && c.Slow
	})
}
