//go:build linux

package shell

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/product/docs/page"
)

// Issue 7, point 6: shims replace programs that would reach beyond the test.
func TestShimsStandInForOtherPrograms(t *testing.T) {
	t.Parallel()
	const release = "https://github.com/batchjob-dev/kubectl-batchjob/releases/download/v0.1.0/"
	project := t.TempDir()
	tools := t.TempDir()
	for file, text := range map[string]string{
		filepath.Join(project, "Makefile"):               "up:\n\techo it runs >ran\ntest:\n\tfalse\n",
		filepath.Join(project, "dist", "a_v0.1.0.tar"):   "the archive\n",
		filepath.Join(project, "dist", "install.yaml"):   "the manifests\n",
		filepath.Join(project, "dist", "b_v9-x_os.tar"):  "of another version\n",
		filepath.Join(project, "dist", "checksums.txt"):  "the sums: b_v9-x_os.tar\n",
		filepath.Join(project, "kubeconfig-of-the-page"): "the cluster\n",
		filepath.Join(tools, "curl"):                     "#!/bin/sh\necho real curl \"$@\"\n",
		filepath.Join(tools, "kubectl"):                  "#!/bin/sh\necho real kubectl \"$@\"\n",
	} {
		assert.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		assert.NoError(t, os.WriteFile(file, []byte(text), 0o700))
	}
	shims, err := filepath.Abs("../shims")
	assert.NoError(t, err)
	path := tools + ":" + os.Getenv("PATH")
	environment := append(os.Environ(), "PATH="+shims+":"+path, "DOCS_REAL_PATH="+path, "DOCS_PROJECT="+project,
		"DOCS_KUBECONFIG="+filepath.Join(project, "kubeconfig-of-the-page"))
	for _, tc := range []struct {
		name, text string
		code       int
	}{
		{"curl -LO", "curl -LO " + release + "a_v0.1.0.tar\ngrep 'the archive' a_v0.1.0.tar", 0},
		{"curl -fsSLO of two", "curl -fsSLO " + release + "a_v0.1.0.tar -fsSLO " + release + "checksums.txt\ncat a_v0.1.0.tar checksums.txt", 0},
		{"curl of another version", "curl -LO " + release + "b_v0.1.0_os.tar -LO " + release + "checksums.txt\ngrep 'another version' b_v0.1.0_os.tar\ngrep 'sums: b_v0.1.0_os.tar$' checksums.txt", 0},
		{"curl -o", "curl -sSL -o here " + release + "a_v0.1.0.tar\ngrep 'the archive' here", 0},
		{"curl -Lo", "curl -Lo here " + release + "a_v0.1.0.tar\ngrep 'the archive' here", 0},
		{"curl to a pipe", "curl -L " + release + "install.yaml | grep 'the manifests'", 0},
		{"curl of what is not in a release", "curl -LO " + release + "b.tar", 22},
		{"another curl", "curl -k https://localhost/x | grep '^real curl -k https://localhost/x$'", 0},
		{"kubectl of a release", "kubectl apply -f " + release + "install.yaml | grep \"^real kubectl apply -f $DOCS_PROJECT/dist/install.yaml$\"", 0},
		{"another kubectl", "kubectl get 'a b' | grep '^real kubectl get a b$'", 0},
		{"make up", "make up\ngrep 'the cluster' .cluster/kubeconfig\n! test -e $DOCS_PROJECT/ran", 0},
		{"make of a target", "make test", 0},
		{"make of no target", "make tets", 2},
		{"sudo", "sudo true", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s, err := Start(t.TempDir(), t.TempDir(), environment)
			assert.NoError(t, err)
			defer s.Close()
			b := page.Block{Lang: "sh", Text: strings.TrimSpace(tc.text) + "\n", Run: page.Run{Code: tc.code}}
			if err := s.Run(context.Background(), b); err != nil {
				t.Error(err)
			}
		})
	}
}
