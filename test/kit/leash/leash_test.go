//go:build unix

package leash

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func TestNoFolderIsLeftWithoutALeash(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("PATH", "")
	if _, err := NewCluster("", "test"); err == nil {
		t.Error("there is a Leash without sh")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestStartWaitsNoLongerThanItsContext(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, sleep, nil, "100"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Namespace waits for a service account that does not exist yet; any other error is returned at once.
func TestNamespaceIsAwaited(t *testing.T) {
	forbidden := errors.New("forbidden")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client := fake.NewClientset()
	asked := 0
	client.PrependReactor("get", "serviceaccounts", func(clienttesting.Action) (bool, runtime.Object, error) {
		asked++
		return asked == 3, nil, forbidden
	})
	if _, err := Namespace(ctx, client, metav1.ObjectMeta{Name: "n"}); !errors.Is(err, forbidden) || asked != 3 {
		t.Errorf("%v after %d requests", err, asked)
	}
}
