package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/metadata"

	"github.com/batchjob-dev/kubectl-batchjob/internal/sanitize"
)

// completionTimeout is how long the shell may wait for the cluster after TAB.
const completionTimeout = 2 * time.Second

// mustCompleteFlag registers a completion; it fails only for a flag that does not exist.
func mustCompleteFlag(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(fmt.Sprintf("completion of --%s: %v", flag, err))
	}
}

// completeKubeFlags completes --namespace from the cluster and --context from the kubeconfig.
func completeKubeFlags(cmd *cobra.Command, flags *genericclioptions.ConfigFlags) {
	mustCompleteFlag(cmd, "namespace", func(cmd *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		names := objectNames(cmd.Context(), flags, corev1.SchemeGroupVersion.WithResource("namespaces"), "")
		return withPrefix(names, toComplete), cobra.ShellCompDirectiveNoFileComp
	})
	mustCompleteFlag(cmd, "context", func(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		raw, err := flags.ToRawKubeConfigLoader().RawConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return withPrefix(slices.Sorted(maps.Keys(raw.Contexts)), toComplete), cobra.ShellCompDirectiveNoFileComp
	})
}

// completeFormats completes the values of status -o.
func completeFormats(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	return withPrefix(statusFormats(), toComplete), cobra.ShellCompDirectiveNoFileComp
}

// completeJobs completes names of Jobs, in the form that the user began; nothing where flags choose the Jobs.
func completeJobs(flags *genericclioptions.ConfigFlags, byFlags func() bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp
		prefix := ""
		if resource, _, qualified := strings.Cut(toComplete, "/"); qualified {
			if !isJobResource(resource) {
				return nil, directive
			}
			prefix = resource + "/"
		}
		namespace, err := kubeNamespace(flags)
		if err != nil || byFlags() {
			return nil, directive
		}
		given, _ := parseJobArgs(args)
		var candidates []string
		for _, name := range objectNames(cmd.Context(), flags, batchv1.SchemeGroupVersion.WithResource("jobs"), namespace) {
			if !slices.Contains(given, name) {
				candidates = append(candidates, prefix+name)
			}
		}
		return withPrefix(candidates, toComplete), directive
	}
}

// objectNames asks the cluster for names only. It is silent: without an answer in time there are none.
func objectNames(ctx context.Context, flags *genericclioptions.ConfigFlags, resource schema.GroupVersionResource, namespace string) []string {
	config, err := restConfig(flags, io.Discard)
	if err != nil {
		return nil
	}
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	// Version 0 lets the API server answer from its cache.
	list, err := client.Resource(resource).Namespace(namespace).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return nil
	}
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names
}

// withPrefix keeps the candidates that begin with prefix and that a shell can show as they are.
func withPrefix(candidates []string, prefix string) []string {
	return slices.DeleteFunc(candidates, func(c string) bool {
		return !strings.HasPrefix(c, prefix) || sanitize.Line(c) != c
	})
}
