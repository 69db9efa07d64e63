package manifest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// ReadKustomization builds the kustomization in a folder, or at a URL that kustomize fetches, and returns its objects in the
// order in which kubectl applies them. Their positions are names, such as "Job/migrate (kustomization overlays/prod)",
// without lines, because several files may contribute to an object.
func ReadKustomization(ctx context.Context, folder string) ([]*Object, []error) {
	if err := ctx.Err(); err != nil {
		return nil, []error{err}
	}
	// kustomize accepts no context, and may run git.
	var found []*Object
	var bad []error
	if !untilEnd(ctx, func() { found, bad = buildKustomization(folder) }) {
		return nil, []error{ctx.Err()}
	}
	return found, bad
}

func buildKustomization(folder string) ([]*Object, []error) {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return nil, []error{fmt.Errorf("kustomization %s: this is a file; name the folder that has it", folder)}
	}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionLegacy // as kubectl
	resources, err := krusty.MakeKustomizer(options).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, []error{fmt.Errorf("kustomization %s: %s", folder, kustomizeProblem(folder, err))}
	}
	var objects []*Object
	var problems []error
	for _, resource := range resources.Resources() {
		label := fmt.Sprintf("%s/%s (kustomization %s)", resource.GetKind(), resource.GetName(), folder)
		data, err := resource.MarshalJSON()
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", label, err))
			continue
		}
		found, bad := Parse(label, data)
		for _, object := range found {
			object.document.folder = folder
		}
		objects, problems = append(objects, found...), append(problems, bad...)
	}
	return objects, problems
}

// kustomizeProblem formats an error of kustomize on one line, with paths as the user named them.
func kustomizeProblem(folder string, err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	if _, statErr := os.Stat(folder); os.IsNotExist(statErr) && strings.Contains(text, "not a valid directory") {
		return "the folder does not exist"
	}
	if path, absErr := filepath.Abs(folder); absErr == nil {
		if target, evalErr := filepath.EvalSymlinks(path); evalErr == nil {
			text = strings.ReplaceAll(text, target, folder)
		}
		text = strings.ReplaceAll(text, path, folder)
	}
	return text
}
