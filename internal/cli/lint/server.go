package lint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/manifests"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint"
)

// The values of --server; another one is the address of an API server, as in kubectl.
const (
	serverYes  = "true"
	serverNo   = "false"
	serverAuto = "auto"
)

// autoTime is how long --server=auto waits for the first answer.
const autoTime = time.Second

// addServer adds the connection flags, of which --server also turns the question on.
func (o *Options) addServer(cmd *cobra.Command) {
	o.kube.AddTo(cmd)
	flag := cmd.Flags().Lookup("server")
	flag.Usage, flag.NoOptDefVal = "Ask the API server: true, auto, or its address.\nNothing is stored, and webhooks see a dry run. auto asks if the current context answers within a second.", serverYes
	flag.Annotations = map[string][]string{cmdutil.OwnFlag: {"true"}}
	cmdutil.MustCompleteFlag(cmd, "server", cmdutil.CompleteWords(serverAuto, serverYes, serverNo))
}

// validateServer reads the value of --server.
func (o *Options) validateServer() error {
	address := &o.kube.Overrides.ClusterInfo.Server
	switch o.server = cmp.Or(*address, serverNo); {
	case slices.Contains([]string{serverYes, serverNo, serverAuto}, o.server):
		*address = ""
	case strings.ContainsAny(o.server, ":."):
		o.server = serverYes
	default:
		return cmdutil.UsageErrorf("--server=%s: must be auto, true, false, or the address of an API server", o.server)
	}
	return nil
}

// connect returns the client for the question, nil if there is none.
func (o *Options) connect(ctx context.Context) (*manifests.Client, error) {
	if o.server == serverNo {
		return nil, nil
	}
	client, err := manifests.NewDryRun(o.kube, o.Now)
	if o.server == serverYes {
		return client, err
	}
	if err == nil {
		limited, cancel := context.WithTimeout(ctx, autoTime)
		defer cancel()
		err = client.Ping(limited)
	}
	if err != nil {
		fmt.Fprintf(o.ErrOut, "note: checked without an API server: %s\n", cmdutil.ErrorLine(err))
		return nil, ctx.Err()
	}
	return client, nil
}

// ask adds what the API server says about an object to our findings. After an error that is not about the object, it is not
// asked again.
func (r *lintResult) ask(ctx context.Context, object *manifest.Object, ours []lint.Finding) []lint.Finding {
	if r.client == nil || r.failed != nil {
		return ours
	}
	verdict, err := r.client.Try(ctx, object)
	if err != nil {
		r.failed = err
		return ours
	}
	r.Summary.asked++
	verdict.Findings = slices.DeleteFunc(verdict.Findings, func(f lint.Finding) bool {
		return f.Field == "metadata.namespace" && r.creates[object.Namespace()] // a namespace of these manifests
	})
	return verdict.Merge(ours)
}
