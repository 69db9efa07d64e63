// Package tenant creates namespaces in clusters, and grants permissions in them. It takes a whole Clientset, which is expensive to link:
// tests that start no cluster do without it.
package tenant

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
)

// patience is the time limit for a namespace to be ready.
const patience = 5 * time.Minute

// Namespace creates a namespace and returns its name once it has the service account that pods need.
func Namespace(ctx context.Context, client kubernetes.Interface, meta metav1.ObjectMeta) (string, error) {
	ns, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: meta}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(ns.Name).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return "", fmt.Errorf("waiting for the default service account of namespace %s: %w", ns.Name, err)
	}
	return ns.Name, nil
}
