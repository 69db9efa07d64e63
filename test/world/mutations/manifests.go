package mutations

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
)

// Manifest is a manifest without mistakes.
type Manifest struct {
	Name string
	Text string
}

//go:embed testdata/manifests
var embedded embed.FS

// Manifests returns the manifests of this package and of the folders.
func Manifests(folders ...string) ([]Manifest, error) {
	var all []Manifest
	own, err := fs.Sub(embedded, "testdata/manifests")
	if err != nil {
		return nil, err
	}
	sources := []fs.FS{own}
	for _, folder := range folders {
		sources = append(sources, os.DirFS(folder))
	}
	for _, source := range sources {
		err := fs.WalkDir(source, ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" && filepath.Ext(path) != ".json" {
				return err
			}
			text, err := fs.ReadFile(source, path)
			all = append(all, Manifest{Name: path, Text: string(text)})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}
