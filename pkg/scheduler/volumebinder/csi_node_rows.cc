#include "pkg/scheduler/volumebinder/csi_node_rows.h"

#include "pkg/util/symbol.h"

namespace berth::scheduler {

const RowSet& CsiNodeRows::All() {
  Refresh();
  return rows_;
}

const RowSet& CsiNodeRows::Migrated(std::string_view plugin) {
  Refresh();
  return by_plugin_[std::string(plugin)];
}

void CsiNodeRows::Refresh() {
  const auto& csi_nodes = cache_->listers().csi_nodes;
  const bool known = found_ && cache_->NodeChangesSince(generation_, [this](Row row) { Set(row); }) &&
                     csi_nodes.ChangesSince(csi_nodes_, [this](Symbol, const std::string& name) {
                       if (const Row row = cache_->FindRow(Symbol::Find(name)); row != kNoRow) Set(row);
                     });
  if (!known) {
    rows_.Clear();
    by_plugin_.clear();
    cache_->listed().ForEach([this](Row row) { Set(row); });
  }
  found_ = true;
  csi_nodes_ = csi_nodes.version();
  generation_ = cache_->generation();
}

// Finds the CSINode of a row and its plugins anew. A row that has no node has none.
void CsiNodeRows::Set(Row row) {
  rows_.Erase(row);
  for (auto& [plugin, rows] : by_plugin_) rows.Erase(row);
  if (!cache_->listed().Has(row)) return;
  const auto csi_node = cache_->listers().csi_nodes.Get(Symbol(), cache_->row(row).name.string());
  if (csi_node == nullptr) return;
  rows_.Insert(row);
  for (const Symbol plugin : csi_node->migrated_plugins) by_plugin_[plugin.string()].Insert(row);
}

}  // namespace berth::scheduler
