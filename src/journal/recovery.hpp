#pragma once

#include <string>
#include <vector>

#include "journal/disk.hpp"
#include "journal/survey.hpp"

namespace gorgo::journal {

/// Makes the folder unless it is there. Its name is durable then.
Result<void> make_durable_folder(Disk& disk, const std::string& folder);

/// The files behind the end of a journal that begin with a whole record: the file before them is
/// missing or torn. A crash leaves them where that one was never durable, and whoever loses a file
/// does, too: nothing tells the two apart.
Result<std::vector<std::string>> unreached_files(Disk& disk, const Survey& found);

/// Finds where the records of a journal end, cuts off what is behind, removes files that trimming
/// has left, and makes all of it durable. Unreached files stay, as FILE.unreached. It reads what
/// the disk holds and not what the system remembers. An error: the journal is damaged, or the disk
/// fails; calling it again is safe.
Result<Survey> recover(Disk& disk, const std::string& folder);

/// Makes `target`, a new or empty folder, a copy of the journal as far as it is written. Another
/// process may have the journal open. All files but the last are links, so both folders are on one
/// file system.
Result<Survey> back_up(Disk& disk, const std::string& folder, const std::string& target);

}  // namespace gorgo::journal
