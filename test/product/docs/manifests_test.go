//go:build linux

package docs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/batchjob-dev/kubectl-batchjob/test/product/docs/page"
)

// elsewhere are API groups that this cluster does not serve.
var elsewhere = []string{"monitoring.coreos.com/", "jobset.x-k8s.io/", "kueue.x-k8s.io/", "kustomize.config.k8s.io/", "argoproj.io/", "cert-manager.io/"}

// manifests validates the objects in a block with the API server, strictly and as a dry run. Package page checks parts
// of objects.
func (v *visit) manifests(b page.Block) error {
	decoder := yaml.NewDecoder(bytes.NewBufferString(b.Text))
	for {
		var object map[string]any
		err := decoder.Decode(&object)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", b.Where(), err)
		}
		version, isObject := object["apiVersion"].(string)
		if !isObject || object["kind"] == nil {
			continue
		}
		if served(version) {
			err = v.ask(object, strings.Contains(b.Text, "podFailurePolicy:"))
		}
		if err != nil {
			return fmt.Errorf("%s: the API server does not take the %s: %w", b.Where(), object["kind"], err)
		}
	}
}

func served(version string) bool {
	for _, group := range elsewhere {
		if strings.HasPrefix(version, group) {
			return false
		}
	}
	return true
}

// ask creates an object as a dry run, under another name and in the page's namespace. With rules, names of failure
// policy rules are stored as `kubectl batchjob create` stores them.
func (v *visit) ask(object map[string]any, rules bool) error {
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return errors.New("it has no metadata")
	}
	delete(metadata, "namespace")
	delete(metadata, "name")
	metadata["generateName"] = "trial-"
	data, err := yaml.Marshal(object)
	if err != nil {
		return err
	}
	if object["kind"] == "Job" && rules {
		if data, err = v.pipe(data, v.cluster.binary, "create", "--dry-run=client", "-o", "yaml", "-f", "-"); err != nil {
			return err
		}
	}
	_, err = v.pipe(data, filepath.Join(v.cluster.binaries, "kubectl"), "create", "--dry-run=server", "--validate=strict", "-f", "-")
	return err
}

// pipe runs a command in the page's environment.
func (v *visit) pipe(in []byte, program string, args ...string) ([]byte, error) {
	cmd := exec.Command(program, args...)
	var output bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stderr = v.environment, bytes.NewReader(in), &output
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, output.String())
	}
	return out, nil
}
