package lint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
)

// kustomization holds the fields of a kustomization.yaml that name patches. Patches are partial manifests: the base
// has the other fields.
type kustomization struct {
	Patches               []patchRef `json:"patches"`
	PatchesJSON6902       []patchRef `json:"patchesJson6902"`
	PatchesStrategicMerge []string   `json:"patchesStrategicMerge"` // paths, or patches
}

type patchRef struct {
	Path string `json:"path"`
}

// kustomizationIn returns the path of the kustomization in a folder.
func kustomizationIn(folder string) string {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			return filepath.Join(folder, name)
		}
	}
	return folder
}

// patches holds the files that are patches of kustomizations, by their clean paths.
type patches map[string]bool

// findPatches returns the patches of all kustomizations in the folders of these files, and in their parents.
func findPatches(files []string) patches {
	found, seen := patches{}, map[string]bool{}
	for _, file := range files {
		if file == manifest.Stdin {
			continue
		}
		for folder := filepath.Dir(file); !seen[folder]; folder = filepath.Dir(folder) {
			seen[folder] = true
			found.read(folder)
			if filepath.Base(folder) == ".." { // Dir drops ".." instead of returning the parent
				break
			}
		}
	}
	return found
}

// read adds the patches of the kustomization in this folder, if there is one. It ignores a kustomization that cannot
// be read, as kustomize reports it.
func (p patches) read(folder string) {
	var k kustomization
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil || yaml.Unmarshal(data, &k) != nil {
			continue
		}
		for _, ref := range slices.Concat(k.Patches, k.PatchesJSON6902) {
			p.add(folder, ref.Path)
		}
		for _, text := range k.PatchesStrategicMerge {
			p.add(folder, text)
		}
	}
}

func (p patches) add(folder, path string) {
	if path != "" && !strings.Contains(path, "\n") {
		p[filepath.Join(folder, path)] = true
	}
}

func (p patches) has(file string) bool { return p[filepath.Clean(file)] }

// isKustomization reports whether a document that is not a Kubernetes object is a kustomization without a kind, which is
// the usual form.
func isKustomization(file string, content any) bool {
	fields, isObject := content.(map[string]any)
	return isObject && fields["kind"] == nil && slices.Contains(konfig.RecognizedKustomizationFileNames(), filepath.Base(file))
}

// isJSONPatch reports whether a document is a list of JSON patches (RFC 6902).
func isJSONPatch(content any) bool {
	operations, _ := content.([]any)
	if len(operations) == 0 {
		return false
	}
	first, _ := operations[0].(map[string]any)
	op, _ := first["op"].(string)
	path, _ := first["path"].(string)
	return op != "" && path != ""
}
