package retry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/interrupt"
)

// edit opens the Job in the user's editor.
func edit(ctx context.Context, env cmdutil.Env, job *unstructured.Unstructured) error {
	shown := job.DeepCopy()
	shown.SetManagedFields(nil)
	unstructured.RemoveNestedField(shown.Object, "status")
	data, err := yaml.Marshal(shown.Object)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp("", "batchjob-retry-*.yaml")
	if err != nil {
		return err
	}
	remove := func() { _ = os.Remove(file.Name()) }
	defer remove()
	defer interrupt.OnExit(ctx, remove)()
	_, err = file.Write(data)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	editor := cmdutil.Editor()
	command := exec.CommandContext(ctx, editor[0], append(editor[1:], file.Name())...)
	command.Stdin, command.Stdout, command.Stderr = env.In, env.Out, env.ErrOut
	if err := command.Run(); err != nil {
		return cmdutil.NewUserError(cmdutil.KindOther, err, fmt.Sprintf("editor %s failed: %v", editor[0], err), "set KUBE_EDITOR or EDITOR")
	}
	edited, err := os.ReadFile(file.Name())
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(edited)) == 0 {
		return cmdutil.NewUserError(cmdutil.KindOther, nil, "the file was emptied in the editor: nothing is created", "")
	}
	content := map[string]any{}
	if err := yaml.Unmarshal(edited, &content); err != nil {
		return cmdutil.NewUserError(cmdutil.KindOther, err, "what was edited is not YAML: "+err.Error(), "")
	}
	data, err = json.Marshal(content)
	if err != nil {
		return err
	}
	return job.UnmarshalJSON(data)
}
