package cmdutil

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/sanitize"
)

// CompletionTimeout is the time limit for requests to the cluster after TAB.
const CompletionTimeout = 2 * time.Second

// completionTimeout is the key of another time limit than CompletionTimeout in a context.
type completionTimeout struct{}

// WithCompletionTimeout returns a context in which completions take at most d, for tests on busy machines.
func WithCompletionTimeout(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, completionTimeout{}, d)
}

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
	for flag, names := range map[string]func(clientcmdapi.Config) iter.Seq[string]{
		"context": func(c clientcmdapi.Config) iter.Seq[string] { return maps.Keys(c.Contexts) },
		"cluster": func(c clientcmdapi.Config) iter.Seq[string] { return maps.Keys(c.Clusters) },
		"user":    func(c clientcmdapi.Config) iter.Seq[string] { return maps.Keys(c.AuthInfos) },
	} {
		MustCompleteFlag(cmd, flag, func(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			raw, _ := f.Loader().RawConfig() // empty after an error
			return WithPrefix(slices.Sorted(names(raw)), toComplete), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// CompleteJobs completes names of Jobs, in the form that the user began. If flags choose the Jobs, it offers none.
func CompleteJobs(flags *KubeFlags, byFlags func() bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		prefix := ""
		if resource, _, qualified := strings.Cut(toComplete, "/"); qualified {
			if !IsJobResource(resource) {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			prefix = resource + "/"
		}
		given, _ := ParseJobArgs(args)
		for i := range given {
			given[i] = prefix + given[i]
		}
		jobs := ObjectQuery{Resource: batchv1.SchemeGroupVersion.WithResource("jobs")}
		return completeObjects(cmd.Context(), flags, byFlags, jobs, prefix, given, toComplete)
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
		return completeObjects(cmd.Context(), flags, byFlags, q, resource+"/", args, toComplete)
	}
}

// CompleteJobsOrCronJob completes names of Jobs, and names of CronJobs after cronjob/.
func CompleteJobsOrCronJob(flags *KubeFlags, byFlags func() bool) cobra.CompletionFunc {
	return CompleteKinds(flags, byFlags, CronJobQuery, CompleteJobs(flags, byFlags))
}

// CronJobQuery returns the query for CronJobs, or the zero value for another resource.
func CronJobQuery(resource string) ObjectQuery {
	if CronJobKinds()[strings.ToLower(resource)] == "" {
		return ObjectQuery{}
	}
	return ObjectQuery{Resource: batchv1.SchemeGroupVersion.WithResource("cronjobs")}
}

// completeObjects offers the names that q selects in the current namespace, after prefix, without the ones given.
func completeObjects(ctx context.Context, flags *KubeFlags, byFlags func() bool, q ObjectQuery, prefix string, given []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	var err error
	if q.Namespace, err = KubeNamespace(flags); err != nil || byFlags() {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := ObjectNames(ctx, flags, q)
	for i := range names {
		names[i] = prefix + names[i]
	}
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(given, name) })
	return WithPrefix(names, toComplete), cobra.ShellCompDirectiveNoFileComp
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
		"patch-file", "policies", "from", "file", "record", "template", "tls-cert-file", "tls-private-key-file",
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
	limit, isSet := ctx.Value(completionTimeout{}).(time.Duration)
	if !isSet {
		limit = CompletionTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
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
		return WithPrefix(slices.Clone(words), toComplete), cobra.ShellCompDirectiveNoFileComp
	}
}

// ObjectQuery selects the objects whose names complete a word.
type ObjectQuery struct {
	Resource  schema.GroupVersionResource
	Namespace string // empty for all namespaces, and for resources without any
	Labels    string
	Fields    string
	Limit     int64 // 0 for no limit
}

// ObjectNames requests only the metadata of objects. It returns the names of each query sorted, one query after the
// other. It reports no errors, and returns nothing if the cluster does not answer in time.
func ObjectNames(ctx context.Context, flags *KubeFlags, queries ...ObjectQuery) []string {
	return withinTimeout(ctx, func(ctx context.Context) (names []string) {
		config, err := RESTConfig(flags, io.Discard)
		if err != nil {
			return nil
		}
		client, err := metadata.NewForConfig(config)
		if err != nil {
			return nil
		}
		for _, q := range queries {
			options := metav1.ListOptions{LabelSelector: q.Labels, FieldSelector: q.Fields, Limit: q.Limit}
			if q.Limit == 0 { // The API server may answer from its cache, which ignores limits.
				options.ResourceVersion = "0"
			}
			list, err := client.Resource(q.Resource).Namespace(q.Namespace).List(ctx, options)
			if err != nil {
				return names
			}
			first := len(names)
			for i := range list.Items {
				names = append(names, list.Items[i].Name)
			}
			slices.Sort(names[first:])
		}
		return names
	})
}

// jobToComplete returns the Job that the command line names; nil without an answer in time.
func jobToComplete(ctx context.Context, flags *KubeFlags, args []string) *batchv1.Job {
	names, err := ParseJobArgs(args)
	if err != nil || len(names) != 1 {
		return nil
	}
	return withinTimeout(ctx, func(ctx context.Context) *batchv1.Job {
		_, set, err := NewJobSet(flags, JobChoice{}, io.Discard)
		if err != nil {
			return nil
		}
		object, err := set.Get(ctx, names[0])
		if err != nil {
			return nil
		}
		job, _ := ToJob(object)
		return job
	})
}
