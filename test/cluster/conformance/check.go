package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/pods"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/report"
	"github.com/batchjob-dev/kubectl-batchjob/test/cluster/conformance/suite"
)

const (
	// caseTime is the time after which a case fails, parallel the number of cases that run at once.
	caseTime    = 2 * time.Minute
	parallel    = 16
	cleanUpTime = 30 * time.Second
)

// check runs cases on the cluster and removes the objects that it has created.
func check(ctx context.Context, o *options, chosen []suite.Case, progress io.Writer) (r *report.Report, err error) {
	config, client, err := connect(o)
	if err != nil {
		return nil, err
	}
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("reading the version of the API server: %w", err)
	}
	namespaces := client.CoreV1().Namespaces()
	stored, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "conformance-"}}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("creating a namespace: %w", err)
	}
	namespace := stored.Name
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanUpTime)
		defer cancel()
		err = errors.Join(err, namespaces.Delete(ctx, namespace, metav1.DeleteOptions{}))
	}()
	kubelet, err := kubeletOf(ctx, o, config, client, namespace)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, kubelet.Close()) }()
	r = &report.Report{Kubernetes: version.GitVersion, ManagedBy: o.managedBy, Pods: o.pods, Started: time.Now()}
	done := 0
	r.Results, err = suite.Run(ctx, suite.Config{
		Client: client, Namespace: namespace, ManagedBy: o.managedBy, Kubelet: kubelet,
		Timeout: caseTime, Parallel: parallel,
	}, chosen, func(result suite.Result) {
		done++
		fmt.Fprintf(progress, "%d/%d %s: %s\n", done, len(chosen), result.Case.Name, result.Outcome)
	})
	return r, err
}

func connect(o *options) (*rest.Config, kubernetes.Interface, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.context}).ClientConfig()
	if err != nil {
		return nil, nil, err
	}
	// The API server does the rate limiting.
	config.QPS = -1
	config.UserAgent = "batchjob-conformance"
	client, err := kubernetes.NewForConfig(config)
	return config, client, err
}

func kubeletOf(ctx context.Context, o *options, config *rest.Config, client kubernetes.Interface, namespace string) (pods.Kubelet, error) {
	if o.pods == podsImage {
		return pods.NewImage(config, client, namespace, o.image), nil
	}
	return pods.NewSimulated(ctx, client, "conformance-"+rand.String(5))
}
