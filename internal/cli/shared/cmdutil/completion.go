package cmdutil

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// CompletionTimeout is the time limit for requests to the cluster after TAB.
const CompletionTimeout = 2 * time.Second

// MustCompleteFlag registers a completion; it fails only for a flag that does not exist.
func MustCompleteFlag(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(fmt.Sprintf("completion of --%s: %v", flag, err))
	}
}

// AddTo adds the flags to a command. It completes --namespace from the cluster, and contexts, clusters and users from
// the kubeconfig.
func (f *KubeFlags) AddTo(cmd *cobra.Command) {
	f.AddFlags(cmd.Flags())
	MustCompleteFlag(cmd, "namespace", func(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		names := ObjectNames(cmd.Context(), f, ObjectQuery{Resource: corev1.SchemeGroupVersion.WithResource("namespaces")})
		return WithPrefix(names, toComplete), cobra.ShellCompDirectiveNoFileComp
	})
	for _, flag := range []string{"context", "cluster", "user"} {
		MustCompleteFlag(cmd, flag, func(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			return WithPrefix(kubeconfigNames(f, flag), toComplete), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// kubeconfigNames returns the kubeconfig entries that a flag can choose: contexts, clusters or users.
func kubeconfigNames(flags *KubeFlags, flag string) []string {
	raw, err := flags.Loader().RawConfig()
	switch {
	case err != nil:
		return nil
	case flag == "cluster":
		return slices.Sorted(maps.Keys(raw.Clusters))
	case flag == "user":
		return slices.Sorted(maps.Keys(raw.AuthInfos))
	}
	return slices.Sorted(maps.Keys(raw.Contexts))
}

// CompleteJobs completes names of Jobs, in the form that the user began. If flags choose the Jobs, it offers none.
func CompleteJobs(flags *KubeFlags, byFlags func() bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp
		prefix := ""
		if resource, _, qualified := strings.Cut(toComplete, "/"); qualified {
			if !isJobResource(resource) {
				return nil, directive
			}
			prefix = resource + "/"
		}
		namespace, err := KubeNamespace(flags)
		if err != nil || byFlags() {
			return nil, directive
		}
		given, _ := ParseJobArgs(args)
		var candidates []string
		for _, name := range ObjectNames(cmd.Context(), flags, ObjectQuery{Resource: batchv1.SchemeGroupVersion.WithResource("jobs"), Namespace: namespace}) {
			if !slices.Contains(given, name) {
				candidates = append(candidates, prefix+name)
			}
		}
		return WithPrefix(candidates, toComplete), directive
	}
}

// CompleteJob completes the name of the only Job.
func CompleteJob(flags *KubeFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return CompleteJobs(flags, func() bool { return len(args) > 0 })(cmd, args, toComplete)
	}
}

// CompleteKinds completes RESOURCE/NAME with the names that query selects. It leaves a resource for which query
// returns the zero value, and a NAME alone, to jobs.
func CompleteKinds(flags *KubeFlags, byFlags func() bool, query func(resource string) ObjectQuery, jobs cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		resource, _, qualified := strings.Cut(toComplete, "/")
		q := query(strings.ToLower(resource))
		if !qualified || q == (ObjectQuery{}) {
			return jobs(cmd, args, toComplete)
		}
		var err error
		if q.Namespace, err = KubeNamespace(flags); err != nil || byFlags() {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var candidates []string
		for _, name := range ObjectNames(cmd.Context(), flags, q) {
			if candidate := resource + "/" + name; !slices.Contains(args, candidate) {
				candidates = append(candidates, candidate)
			}
		}
		return WithPrefix(candidates, toComplete), cobra.ShellCompDirectiveNoFileComp
	}
}

// WithPrefix keeps the candidates that begin with prefix and contain nothing that would have to be escaped for a
// terminal.
func WithPrefix(candidates []string, prefix string) []string {
	return slices.DeleteFunc(candidates, func(c string) bool {
		return !strings.HasPrefix(c, prefix) || sanitize.Line(c) != c
	})
}

// fileFlags returns the flags whose value is the name of a file or folder.
func fileFlags() []string {
	return []string{
		"filename", "kubeconfig", "cache-dir", "certificate-authority", "client-certificate", "client-key",
		"patch-file", "policies", "from", "output-file", "replay", "record", "template", "tls-cert-file", "tls-private-key-file",
	}
}

// FinishCompletion stops the shell from offering files for arguments and flags that are no files.
func FinishCompletion(cmd *cobra.Command) {
	if cmd.ValidArgsFunction == nil && cmd.Runnable() && !cmd.HasSubCommands() && cmd.Name() != "help" {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if _, completed := cmd.GetFlagCompletionFunc(f.Name); !completed && !slices.Contains(fileFlags(), f.Name) {
			MustCompleteFlag(cmd, f.Name, cobra.NoFileCompletions)
		}
	})
}

// withinTimeout calls ask with the time limit of a completion. It does not wait for an answer after the limit, as
// credential plugins ignore the context.
func withinTimeout[T any](ctx context.Context, ask func(context.Context) T) (answer T) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, CompletionTimeout)
	defer cancel()
	answers := make(chan T, 1)
	go func() { answers <- ask(ctx) }()
	select {
	case answer = <-answers:
	case <-ctx.Done():
	}
	return answer
}

// CompleteWords completes the values of a flag that has a fixed set of them.
func CompleteWords(words ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		return WithPrefix(append([]string(nil), words...), toComplete), cobra.ShellCompDirectiveNoFileComp
	}
}
