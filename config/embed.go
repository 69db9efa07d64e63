// Package config has the manifests of a cluster with this controller, as kustomizations,
// for programs that print them. Its files and folders are for kubectl apply -k, too:
//
//   - default is the controller, of the bases manager and rbac;
//   - admission are policies, which the controller does without, and they without it;
//   - prometheus is monitoring, for the Prometheus operator.
//
// config/samples is for people, and not in here.
package config

import (
	"embed"
	"io/fs"
)

//go:embed admission default manager prometheus rbac
var files embed.FS

// Files are the folders with the kustomizations.
func Files() fs.FS { return files }
