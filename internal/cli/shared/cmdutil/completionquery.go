package cmdutil

import (
	"context"
	"io"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
)

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
