// Package config embeds the manifests of the controller, as kustomizations, for programs
// that print them. They are for kubectl apply -k, too:
//
//   - default is the controller, of the bases manager and rbac;
//   - admission has policies, which are independent of the controller;
//   - prometheus is monitoring, for the Prometheus operator.
//
// config/samples is for users, and not embedded.
package config

import (
	"embed"
	"io/fs"
)

//go:embed admission default manager prometheus rbac
var files embed.FS

// Files are the directories with the kustomizations.
func Files() fs.FS { return files }
